#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace boxcar::cli {

// Language server protocol messages on a pair of files: `Content-Length: N`, an empty line, N bytes of JSON.
class MessageStream {
 public:
  // Longer messages are refused.
  static constexpr size_t kMostBytes = size_t{256} << 20;

  MessageStream(int input, int output) : input_(input), output_(output) {}

  // Returns the next message's text; nullopt if the input ends between messages. Throws Error if the input is not such
  // a stream.
  std::optional<std::string> read();
  // Returns whether a whole message is available already, or some input that may become one.
  bool hasInput();
  void write(const nlohmann::json& message);

 private:
  // Waits for more input; returns false at its end.
  bool fill();
  // Returns where the header ends, after its empty line; npos if more has to be read.
  size_t headerEnd() const;

  int input_;
  int output_;
  std::string buffer_;  // read but not yet taken
};

}  // namespace boxcar::cli
