#include <boxcar/interpreter/cli/lsp/document.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>

namespace boxcar::cli {
namespace {

// The number of bytes, and of UTF-16 units, of the code point that begins with [byte]. A byte that begins no code point
// counts as one of each.
uint32_t bytesOf(unsigned char byte) { return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4; }
uint32_t unitsOf(unsigned char byte) { return byte < 0xF0 ? 1 : 2; }

}  // namespace

LspText::LspText(std::string text) : text_(std::move(text)) { findLines(); }

void LspText::findLines() {
  line_begins_.assign(1, 0);
  for (size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1)) {
    line_begins_.push_back(static_cast<uint32_t>(at + 1));
  }
}

uint32_t LspText::offsetAt(LspPosition position) const noexcept {
  const auto size = static_cast<uint32_t>(text_.size());
  if (position.line >= line_begins_.size()) return size;
  uint32_t at = line_begins_[position.line];
  uint32_t end = position.line + 1 < line_begins_.size() ? line_begins_[position.line + 1] - 1 : size;
  if (end > at && text_[end - 1] == '\r') --end;
  for (uint32_t units = 0; at < end && units < position.character;) {
    const auto byte = static_cast<unsigned char>(text_[at]);
    units += unitsOf(byte);
    if (units > position.character) break;  // in the middle of a surrogate pair
    at = std::min(at + bytesOf(byte), end);
  }
  return at;
}

LspPosition LspText::positionAt(uint32_t offset) const noexcept {
  offset = std::min(offset, static_cast<uint32_t>(text_.size()));
  const auto next = std::upper_bound(line_begins_.begin(), line_begins_.end(), offset);
  LspPosition position{static_cast<uint32_t>(next - line_begins_.begin()) - 1, 0};
  for (uint32_t at = line_begins_[position.line]; at < offset;) {
    const auto byte = static_cast<unsigned char>(text_[at]);
    position.character += unitsOf(byte);
    at += bytesOf(byte);
  }
  return position;
}

void LspText::replace(uint32_t begin, uint32_t end, std::string_view text) {
  text_.replace(begin, std::max(begin, end) - begin, text);
  findLines();
}

std::string pathOfUri(std::string_view uri) {
  constexpr std::string_view kScheme = "file://";
  if (!uri.starts_with(kScheme)) return std::string(uri);
  std::string_view rest = uri.substr(kScheme.size());
  rest.remove_prefix(std::min(rest.find('/'), rest.size()));  // the host, which is empty or this machine
  std::string path;
  for (size_t i = 0; i < rest.size(); ++i) {
    unsigned value = 0;
    if (rest[i] == '%' && i + 2 < rest.size() &&
        std::from_chars(rest.data() + i + 1, rest.data() + i + 3, value, 16).ptr == rest.data() + i + 3) {
      path += static_cast<char>(value);
      i += 2;
    } else {
      path += rest[i];
    }
  }
  return path;
}

std::string uriOfPath(const std::string& path) {
  constexpr std::string_view kPlain = "-._~/";
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  std::string uri = "file://";
  for (const char c : (error ? path : absolute.lexically_normal().string())) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte < 128 && (std::isalnum(byte) != 0 || kPlain.find(c) != std::string_view::npos);
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return uri;
}

}  // namespace boxcar::cli
