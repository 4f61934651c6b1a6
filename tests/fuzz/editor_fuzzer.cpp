// Actions of an editor on a script -> each request gets one answer, whose places lie in the text. The server's text
// equals the editor's.
//
// The first line of an input chooses the actions, four bytes each: the action, two places, and a length. The rest is
// the script, so any script is an input.

#include <boxcar/interpreter/cli/lsp/message.h>
#include <boxcar/interpreter/cli/lsp/server.h>
#include <boxcar/interpreter/service/problems.h>
#include <boxcar/ivalue/file_descriptor.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tests/fuzz/fuzz.h"

namespace boxcar::detail {
// The docstrings of all operators, as the program has them.
extern const std::string_view kOperatorDocstrings;
const std::string_view kOperatorDocstrings = "# Adds.\nadd.Tensor(\n";
}  // namespace boxcar::detail

namespace boxcar::fuzz {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostSteps = 16;
constexpr size_t kStepBytes = 4;
constexpr const char* kUri = "file:///proc/self/fdinfo/fuzz.ops";

class MemoryPipe {
 public:
  MemoryPipe() : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    require(descriptor_.get() >= 0, "the system has no file in memory");
  }
  int get() const { return descriptor_.get(); }
  void rewind() const { require(::lseek(get(), 0, SEEK_SET) == 0, "a file in memory has no beginning"); }

 private:
  const FileDescriptor descriptor_;
};

// The editor: it writes all messages, the server answers them, and then it reads the answers.
class Editor {
 public:
  explicit Editor(std::string_view script) : document_(toValid(script)) {
    request("initialize", {{"capabilities", Json::object()}});
    notify("textDocument/didOpen", {{"textDocument", {{"uri", kUri}, {"version", 1}, {"text", document_.text()}}}});
  }

  // Performs the action that the four bytes from [bytes] on choose.
  void step(const uint8_t* bytes) {
    constexpr std::array kQuestions = {"textDocument/hover",          "textDocument/completion",
                                       "textDocument/definition",     "textDocument/signatureHelp",
                                       "textDocument/documentSymbol", "textDocument/formatting"};
    const size_t what = bytes[0] % (kQuestions.size() + 3);
    if (what < kQuestions.size()) {
      request(kQuestions[what], {{"textDocument", {{"uri", kUri}}}, {"position", at(bytes[1])}});
    } else if (what == kQuestions.size()) {
      sendAnything(textFrom(bytes[1], bytes[3]), kQuestions[bytes[2] % kQuestions.size()]);
    } else {
      change(bytes);
    }
  }

  // Checks that every request has one answer, and that all messages are JSON with places inside some text.
  void finish() {
    request("shutdown", nullptr);
    notify("exit", nullptr);
    input_.rewind();
    cli::MessageStream stream(input_.get(), output_.get());
    require(cli::LspServer(stream).run() == 0, "the server ends with a failure");
    output_.rewind();
    cli::MessageStream answers(output_.get(), output_.get());
    std::map<int, int> counts;
    while (const auto text = answers.read()) {
      const Json answer = Json::parse(*text);
      if (answer.contains("id") && answer["id"].is_number_integer()) ++counts[answer["id"].get<int>()];
      checkPlaces(answer);
    }
    for (int id = 0; id < requests_; ++id) require(counts[id] == 1, "a request has not one answer");
    // The server looks for problems only when no message waits, which never happens here.
    service::problems(document_.text(), "/proc/self/fdinfo/fuzz.ops");
  }

 private:
  // Makes the text valid for JSON: every non-ASCII byte becomes one character of two UTF-16 units.
  static std::string toValid(std::string_view text) {
    std::string valid;
    for (const char c : text) {
      if (static_cast<unsigned char>(c) < 0x80)
        valid += c;
      else
        valid += "\U0001F600";
    }
    return valid;
  }

  uint32_t offset(uint8_t place) const { return static_cast<uint32_t>(document_.text().size() * place / 255); }
  static Json toJson(cli::LspPosition position) { return {{"line", position.line}, {"character", position.character}}; }
  Json at(uint8_t place) const { return toJson(document_.positionAt(offset(place))); }
  std::string textFrom(uint8_t place, uint8_t size) const { return document_.text().substr(offset(place), size); }

  // Replaces one piece of the text by another, at the server and here.
  void change(const uint8_t* bytes) {
    const std::string text = toValid(textFrom(bytes[2], bytes[3]));
    const cli::LspPosition begin = document_.positionAt(offset(bytes[1])),
                           end = document_.positionAt(std::min<uint32_t>(
                               offset(bytes[1]) + bytes[3] / 2, static_cast<uint32_t>(document_.text().size())));
    notify("textDocument/didChange",
           {{"textDocument", {{"uri", kUri}, {"version", 2}}},
            {"contentChanges", {{{"range", {{"start", toJson(begin)}, {"end", toJson(end)}}}, {"text", text}}}}});
    document_.replace(document_.offsetAt(begin), document_.offsetAt(end), text);
  }

  void request(const char* method, const Json& params) {
    send({{"jsonrpc", "2.0"}, {"id", requests_++}, {"method", method}, {"params", params}});
  }
  void notify(const char* method, const Json& params) {
    send({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
  }
  void send(const Json& message) { sendRaw(message.dump(-1, ' ', false, Json::error_handler_t::replace)); }
  // Sends text that is not JSON as a message; JSON becomes the parameters of a request.
  void sendAnything(const std::string& text, const char* method) {
    if (Json::accept(text)) {
      request(method, Json::parse(text));
    } else {
      sendRaw(text);
    }
  }
  void sendRaw(const std::string& body) const {
    const std::string text = "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    require(::write(input_.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()),
            "a file in memory cannot be written");
  }

  static bool isBehind(const Json& one, const Json& other) {
    const auto line = one.at("line").get<int64_t>(), other_line = other.at("line").get<int64_t>();
    return line > other_line || (line == other_line && one.at("character") > other.at("character"));
  }
  static void checkPlaces(const Json& value) {
    if (value.is_object() && value.contains("start") && value.contains("end")) {
      require(value["start"].at("line").get<int64_t>() >= 0 && value["start"].at("character").get<int64_t>() >= 0,
              "a place is negative");
      require(!isBehind(value["start"], value["end"]), "a range ends before it begins");
    }
    if (value.is_structured()) {
      for (const Json& part : value) checkPlaces(part);
    }
  }

  MemoryPipe input_, output_;
  cli::LspText document_;
  int requests_ = 0;
};

void edit(std::string_view input) {
  const std::string_view choices = input.substr(0, input.find('\n'));
  Editor editor(input.substr(std::min(choices.size() + 1, input.size())));
  for (size_t i = 0; i + kStepBytes <= choices.size() && i < kMostSteps * kStepBytes; i += kStepBytes) {
    editor.step(reinterpret_cast<const uint8_t*>(choices.data()) + i);
  }
  editor.finish();
}

}  // namespace
}  // namespace boxcar::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  boxcar::fuzz::runHarmlessly([&] {
    try {
      boxcar::fuzz::edit(boxcar::fuzz::textOf(data, size));
    } catch (const std::bad_alloc&) {
      // An editor would restart the server.
    }
  });
  return 0;
}
