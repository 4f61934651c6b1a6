#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace boxcar::cli {

// The messages of the language server protocol on a pair of files: `Content-Length: N`, an empty line, N bytes of JSON.
class MessageStream {
 public:
  // A message that is longer is refused.
  static constexpr size_t kMostBytes = size_t{256} << 20;

  MessageStream(int input, int output) : input_(input), output_(output) {}

  // The next message's text; nothing where the input ends between messages. Throws Error where it is no such stream.
  std::optional<std::string> read();
  // Whether a whole message is there already, or some input that may become one.
  bool hasInput();
  void write(const nlohmann::json& message);

 private:
  // Waits for more input; false at its end.
  bool fill();
  // Where the header ends, behind its empty line; npos where more has to be read.
  size_t headerEnd() const;

  int input_;
  int output_;
  std::string buffer_;  // what is read and not yet taken
};

}  // namespace boxcar::cli
