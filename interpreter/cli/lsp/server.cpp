#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/lsp/json.h>
#include <boxcar/interpreter/cli/lsp/server.h>
#include <boxcar/interpreter/cli/operator_docstrings.h>
#include <boxcar/interpreter/service/problems.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/version.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace boxcar::cli {
namespace {

// Codes of JSON-RPC and of the protocol.
enum Code : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kServerNotInitialized = -32002,
  kRequestCancelled = -32800,
};

// The maximum nesting depth of a message.
constexpr int kMostNesting = 100;

std::string fileKey(const std::string& path) {
  std::error_code error;
  const std::filesystem::path key = std::filesystem::weakly_canonical(path, error);
  return error ? path : key.string();
}

// Returns the client's capability at [pointer]; null if the client does not mention it.
nlohmann::json capability(const nlohmann::json& params, const char* pointer) {
  const nlohmann::json::json_pointer at(std::string("/capabilities") + pointer);
  return params.is_object() && params.contains(at) ? params.at(at) : nlohmann::json();
}

}  // namespace

LspServer::LspServer(MessageStream& stream) : stream_(stream) {
  workspace_.docstrings = &operatorDocstrings();
  workspace_.open_text = [this](const std::string& key) { return openText(key); };
}

int LspServer::run() {
  while (!has_exited_) {
    // Reads all input that has arrived before doing anything long, so that a request can still be cancelled.
    while (waiting_.empty() || stream_.hasInput()) {
      if (waiting_.empty() && !stream_.hasInput() && !unchecked_.empty()) {
        checkAgain();
        continue;
      }
      std::optional<std::string> text = stream_.read();
      if (!text) {
        if (!waiting_.empty()) break;
        printError("boxcar: lsp: the editor disconnected without `exit`\n");
        return is_shut_down_ ? kDone : kFailed;
      }
      take(*std::move(text));
    }
    // cppcheck-suppress containerOutOfBounds ; the loop above ends when something waits
    const Json message = std::move(waiting_.front());
    waiting_.pop_front();
    handle(message);
  }
  return is_shut_down_ ? kDone : kFailed;
}

void LspServer::take(std::string text) {
  Json message;
  bool is_too_deep = false;
  const auto check = [&is_too_deep](int depth, Json::parse_event_t, Json&) {
    is_too_deep = is_too_deep || depth > kMostNesting;
    return !is_too_deep;
  };
  try {
    message = Json::parse(withoutLoneSurrogates(std::move(text)), check);
  } catch (const Json::exception& error) {
    refuse(nullptr, kParseError, fmt::format("the message is not JSON: {}", error.what()));
    return;
  }
  if (is_too_deep) {
    refuse(nullptr, kInvalidRequest, fmt::format("the message nests more than {} levels deep", kMostNesting));
    return;
  }
  if (message.is_object() && message.value("method", Json()) == "$/cancelRequest") {
    cancel(message.value("params", Json()));
  } else {
    waiting_.push_back(std::move(message));
  }
}

void LspServer::cancel(const Json& params) {
  if (!params.is_object() || !params.contains("id")) return;
  const auto found = std::ranges::find_if(waiting_, [&params](const Json& message) {
    return message.is_object() && message.contains("method") && message.contains("id") && message["id"] == params["id"];
  });
  if (found == waiting_.end()) return;
  waiting_.erase(found);
  refuse(params["id"], kRequestCancelled, "the request was cancelled");
}

void LspServer::handle(const Json& message) {
  if (!message.is_object()) {
    refuse(nullptr, kInvalidRequest, "a message is a JSON object");
    return;
  }
  const bool is_request = message.contains("id");
  const Json id = is_request ? message["id"] : Json();
  if (!message.contains("method")) {
    // A response to a request; this server sends no requests.
    if (!message.contains("result") && !message.contains("error")) {
      refuse(id, kInvalidRequest, "the message has no `method`");
    }
    return;
  }
  if (!message["method"].is_string()) {
    refuse(id, kInvalidRequest, "`method` is not a string");
    return;
  }
  const auto method = message["method"].get<std::string>();
  const Json params = message.value("params", Json());
  try {
    if (is_request) {
      handleRequest(id, method, params);
    } else {
      handleNotification(method, params);
    }
  } catch (const Json::exception& error) {
    const std::string sentence =
        fmt::format("{}: the parameters are not what the protocol says: {}", method, error.what());
    if (is_request) {
      refuse(id, kInvalidParams, sentence);
    } else {
      printError("boxcar: lsp: " + sentence + "\n");
    }
  } catch (const Error& error) {
    if (is_request) {
      refuse(id, kInvalidParams, fmt::format("{}: {}", method, error.message()));
    } else {
      printError(fmt::format("boxcar: lsp: {}: {}\n", method, error.message()));
    }
  }
}

void LspServer::handleRequest(const Json& id, const std::string& method, const Json& params) {
  if (!is_initialized_ && method != "initialize") {
    refuse(id, kServerNotInitialized, fmt::format("`{}` came before `initialize`", method));
  } else if (is_shut_down_) {
    refuse(id, kInvalidRequest, fmt::format("`{}` came after `shutdown`", method));
  } else if (method == "initialize") {
    if (is_initialized_) {
      refuse(id, kInvalidRequest, "`initialize` came twice");
    } else {
      answer(id, initialize(params));
    }
  } else if (method == "shutdown") {
    is_shut_down_ = true;
    answer(id, nullptr);
  } else if (method == "textDocument/hover") {
    answer(id, hover(params));
  } else if (method == "textDocument/completion") {
    answer(id, completion(params));
  } else if (method == "textDocument/definition") {
    answer(id, definition(params));
  } else if (method == "textDocument/documentSymbol") {
    answer(id, symbols(params));
  } else if (method == "textDocument/signatureHelp") {
    answer(id, signatureHelp(params));
  } else if (method == "textDocument/formatting") {
    answer(id, formatting(params));
  } else {
    refuse(id, kMethodNotFound, fmt::format("there is no method `{}` here", method));
  }
}

void LspServer::handleNotification(const std::string& method, const Json& params) {
  if (method == "exit") {
    has_exited_ = true;
  } else if (!is_initialized_ || is_shut_down_) {
    return;  // as the protocol asks
  } else if (method == "textDocument/didOpen") {
    open(params);
  } else if (method == "textDocument/didChange") {
    change(params);
  } else if (method == "textDocument/didClose") {
    close(params);
  } else if (method == "textDocument/didSave" || method == "workspace/didChangeWatchedFiles") {
    for (const auto& [uri, document] : documents_) unchecked_.insert(uri);
  }
}

void LspServer::answer(const Json& id, Json result) {
  stream_.write({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}

void LspServer::refuse(const Json& id, int code, std::string message) {
  stream_.write({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", std::move(message)}}}});
}

void LspServer::notify(std::string_view method, Json params) {
  stream_.write({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}

nlohmann::json LspServer::initialize(const Json& params) {
  is_initialized_ = true;
  const Json formats = capability(params, "/textDocument/hover/contentFormat");
  takes_markdown_ = formats.is_array() && std::ranges::find(formats, Json("markdown")) != formats.end();
  takes_hierarchy_ = capability(params, "/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport") == true;
  takes_related_ = capability(params, "/textDocument/publishDiagnostics/relatedInformation") == true;
  return {{"capabilities",
           {{"positionEncoding", "utf-16"},
            {"textDocumentSync", {{"openClose", true}, {"change", 2}, {"save", true}}},
            {"completionProvider", {{"triggerCharacters", {".", ":", "\"", "/", "@"}}}},
            {"signatureHelpProvider", {{"triggerCharacters", {"(", ","}}}},
            {"hoverProvider", true},
            {"definitionProvider", true},
            {"documentFormattingProvider", true},
            {"documentSymbolProvider", true}}},
          {"serverInfo", {{"name", "boxcar"}, {"version", BOXCAR_VERSION}}}};
}

// ---- Documents ----

std::optional<std::string> LspServer::openText(const std::string& key) const {
  for (const auto& [uri, document] : documents_) {
    if (document.key == key) return document.text.text();
  }
  return std::nullopt;
}

LspServer::Document& LspServer::documentOf(const Json& params) {
  const auto uri = params.at("textDocument").at("uri").get<std::string>();
  const auto found = documents_.find(uri);
  BOXCAR_CHECK(found != documents_.end(), "{} is not open", uri);
  return found->second;
}

void LspServer::open(const Json& params) {
  const Json& opened = params.at("textDocument");
  Document document;
  document.uri = opened.at("uri").get<std::string>();
  document.path = pathOfUri(document.uri);
  document.key = fileKey(document.path);
  document.version = opened.value("version", int64_t{0});
  document.text = LspText(opened.at("text").get<std::string>());
  documents_.insert_or_assign(document.uri, std::move(document));
  // Documents that import it see a different text now.
  for (const auto& [uri, each] : documents_) unchecked_.insert(uri);
}

void LspServer::change(const Json& params) {
  Document& document = documentOf(params);
  for (const Json& change : params.at("contentChanges")) {
    auto text = change.at("text").get<std::string>();
    if (change.contains("range")) {
      const uint32_t begin = document.text.offsetAt(readPosition(change["range"].at("start")));
      const uint32_t end = document.text.offsetAt(readPosition(change["range"].at("end")));
      document.text.replace(begin, end, text);
    } else {
      document.text = LspText(std::move(text));
    }
  }
  document.version = params.at("textDocument").value("version", document.version);
  for (const auto& [uri, each] : documents_) unchecked_.insert(uri);
}

void LspServer::close(const Json& params) {
  const std::string uri = documentOf(params).uri;
  documents_.erase(uri);
  unchecked_.erase(uri);
  notify("textDocument/publishDiagnostics", {{"uri", uri}, {"diagnostics", Json::array()}});
  for (const auto& [other, each] : documents_) unchecked_.insert(other);
}

// Checks one of the documents that wait for it.
void LspServer::checkAgain() {
  const std::string uri = *unchecked_.begin();
  unchecked_.erase(unchecked_.begin());
  const auto found = documents_.find(uri);
  if (found == documents_.end()) return;
  try {
    publish(found->second);
  } catch (const Error& error) {
    printError(fmt::format("boxcar: lsp: {}: {}\n", found->second.path, error.message()));
  }
}

void LspServer::publish(const Document& document) {
  Json diagnostics = Json::array();
  for (const service::Problem& problem : service::problems(document.text.text(), document.path, workspace_)) {
    std::string message = problem.what.message;
    Json related = Json::array();
    for (const Diagnostic::Note& note : problem.what.notes) {
      if (note.place.source == nullptr || !takes_related_) {
        message += "\n" + note.text;
      } else {
        related.push_back({{"location", toJson(note.place, document.path, document.uri)}, {"message", note.text}});
      }
    }
    constexpr int kSeverities[] = {1, 2, 3};
    Json diagnostic = {{"range", toJson(document.text, problem.what.span)},
                       {"severity", kSeverities[static_cast<size_t>(problem.level)]},
                       {"source", "boxcar"},
                       {"message", std::move(message)}};
    if (!related.empty()) diagnostic["relatedInformation"] = std::move(related);
    diagnostics.push_back(std::move(diagnostic));
  }
  notify("textDocument/publishDiagnostics",
         {{"uri", document.uri}, {"version", document.version}, {"diagnostics", std::move(diagnostics)}});
}

}  // namespace boxcar::cli
