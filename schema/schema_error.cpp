#include <boxcar/schema/schema_error.h>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace boxcar {
namespace {

constexpr std::string_view kIndent = "  ";

bool startsCodePoint(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

}  // namespace

struct SchemaError::Located {
  std::size_t line;
  std::size_t column;
  std::string snippet;

  Located(std::string_view text, std::size_t offset, std::size_t length) {
    const std::string_view before = text.substr(0, offset);
    line = 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
    const std::size_t line_start = before.rfind('\n') + 1;  // 0 if there is none
    column = 1 + offset - line_start;

    const std::string_view line_text = text.substr(line_start, text.find('\n', line_start) - line_start);
    snippet.append(kIndent).append(line_text).append("\n").append(kIndent);
    // Tabs and multi-byte characters take as much room in the caret line as in the text.
    for (const char c : line_text.substr(0, offset - line_start)) {
      if (startsCodePoint(c)) snippet += c == '\t' ? '\t' : ' ';
    }
    const std::string_view span = line_text.substr(std::min(offset - line_start, line_text.size())).substr(0, length);
    snippet.append(std::max<std::size_t>(1, static_cast<std::size_t>(std::ranges::count_if(span, startsCodePoint))),
                   '^');
  }
};

SchemaError::SchemaError(std::string_view text, std::size_t offset, std::size_t length, std::string reason)
    : SchemaError(Located(text, offset, length), offset, length, std::move(reason)) {}

SchemaError::SchemaError(Located located, std::size_t offset, std::size_t length, std::string reason)
    : RuntimeError(
          fmt::format("schema, line {}, column {}: {}\n{}", located.line, located.column, reason, located.snippet)),
      reason_(std::move(reason)),
      snippet_(std::move(located.snippet)),
      offset_(offset),
      length_(length),
      line_(located.line),
      column_(located.column) {}

}  // namespace boxcar
