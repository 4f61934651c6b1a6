#pragma once

#include <boxcar/interpreter/cli/lsp/document.h>
#include <boxcar/interpreter/cli/lsp/message.h>
#include <boxcar/interpreter/service/workspace.h>

#include <cstdint>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

namespace boxcar::cli {

// A language server: answers an editor's messages one after the other. It reads scripts and never runs one.
class LspServer {
 public:
  explicit LspServer(MessageStream& stream);

  // Runs until the editor sends `exit` or goes away. Returns the program's exit status as the protocol defines it: 0 if
  // the editor sent `shutdown` before.
  int run();

 private:
  using Json = nlohmann::json;

  struct Document {
    std::string uri;
    std::string path;  // its name in messages, and where its imports start from
    std::string key;   // identifies the file, whatever path leads to it
    int64_t version = 0;
    LspText text{""};
  };

  // ---- messages ----
  void take(std::string text);
  void handle(const Json& message);
  void handleRequest(const Json& id, const std::string& method, const Json& params);
  void handleNotification(const std::string& method, const Json& params);
  void answer(const Json& id, Json result);
  void refuse(const Json& id, int code, std::string message);
  void notify(std::string_view method, Json params);
  // Drops a waiting request.
  void cancel(const Json& params);

  // ---- documents ----
  Json initialize(const Json& params);
  void open(const Json& params);
  void change(const Json& params);
  void close(const Json& params);
  void checkAgain();
  void publish(const Document& document);
  Document& documentOf(const Json& params);
  std::optional<std::string> openText(const std::string& key) const;

  // ---- questions ----
  Json hover(const Json& params);
  Json completion(const Json& params);
  Json definition(const Json& params);
  Json symbols(const Json& params);
  Json signatureHelp(const Json& params);
  Json formatting(const Json& params);

  MessageStream& stream_;
  service::Workspace workspace_;
  std::map<std::string, Document> documents_;  // by URI
  std::set<std::string> unchecked_;            // URIs of documents whose problems are not published yet
  std::deque<Json> waiting_;
  bool is_initialized_ = false;
  bool is_shut_down_ = false;
  bool has_exited_ = false;
  bool takes_markdown_ = false;
  bool takes_hierarchy_ = false;
  bool takes_related_ = false;
};

}  // namespace boxcar::cli
