#include <boxcar/interpreter/cli/lsp/message.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>
#include <poll.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

namespace boxcar::cli {
namespace {

constexpr size_t kMostHeaderBytes = 16384;

// Returns the number after `Content-Length:`.
size_t contentLength(std::string_view header) {
  constexpr std::string_view kField = "content-length:";
  std::optional<size_t> length;
  while (!header.empty()) {
    const size_t end = std::min(header.find('\n'), header.size());
    std::string_view line = header.substr(0, end);
    header.remove_prefix(std::min(end + 1, header.size()));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.size() < kField.size() || strncasecmp(line.data(), kField.data(), kField.size()) != 0) {
      BOXCAR_CHECK(
          line.empty() || line.find(':') != std::string_view::npos,
          "lsp: '{}' was found instead of a header line, such as `Content-Length: 42`; the input is not from an editor",
          line.substr(0, 80));
      continue;
    }
    line.remove_prefix(kField.size());
    while (line.starts_with(' ')) line.remove_prefix(1);
    size_t number = 0;
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    BOXCAR_CHECK(error == std::errc() && rest == line.data() + line.size(),
                 "lsp: `Content-Length: {}` is not a number of bytes", line.substr(0, 80));
    BOXCAR_CHECK(number <= MessageStream::kMostBytes, "lsp: a message of {} bytes is too long; at most {} are read",
                 number, MessageStream::kMostBytes);
    length = number;
  }
  BOXCAR_CHECK(length.has_value(), "lsp: a message has no `Content-Length`");
  return *length;
}

}  // namespace

bool MessageStream::fill() {
  char bytes[1 << 16];
  for (;;) {
    const ssize_t count = ::read(input_, bytes, sizeof(bytes));
    if (count < 0 && errno == EINTR) continue;
    BOXCAR_CHECK(count >= 0, "lsp: the input cannot be read: {}", std::strerror(errno));
    buffer_.append(bytes, static_cast<size_t>(count));
    return count > 0;
  }
}

size_t MessageStream::headerEnd() const {
  const size_t crlf = buffer_.find("\r\n\r\n");
  if (crlf != std::string::npos) return crlf + 4;
  const size_t lf = buffer_.find("\n\n");
  return lf == std::string::npos ? lf : lf + 2;
}

std::optional<std::string> MessageStream::read() {
  size_t header = headerEnd();
  while (header == std::string::npos) {
    BOXCAR_CHECK(buffer_.size() <= kMostHeaderBytes,
                 "lsp: no message begins in the first {} bytes; the input is not from an editor", buffer_.size());
    if (!fill()) {
      if (buffer_.empty()) return std::nullopt;
      contentLength(buffer_);  // throws if something is wrong with it
      BOXCAR_FAIL("lsp: the input ends in the middle of a header");
    }
    header = headerEnd();
  }
  const size_t length = contentLength(std::string_view(buffer_).substr(0, header));
  while (buffer_.size() < header + length) {
    const size_t missing = header + length - buffer_.size();
    BOXCAR_CHECK(fill(), "lsp: the input ends {} bytes before the message does", missing);
  }
  std::string message = buffer_.substr(header, length);
  buffer_.erase(0, header + length);
  return message;
}

bool MessageStream::hasInput() {
  if (!buffer_.empty()) return true;
  pollfd input{input_, POLLIN, 0};
  return ::poll(&input, 1, 0) > 0;
}

void MessageStream::write(const nlohmann::json& message) {
  const std::string body = message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const std::string text = fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
  for (size_t written = 0; written < text.size();) {
    const ssize_t count = ::write(output_, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    BOXCAR_CHECK(count > 0, "lsp: the output cannot be written: {}", std::strerror(errno));
    written += static_cast<size_t>(count);
  }
}

}  // namespace boxcar::cli
