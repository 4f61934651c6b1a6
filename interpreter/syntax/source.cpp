#include <boxcar/interpreter/syntax/source.h>
#include <boxcar/interpreter/syntax/utf8.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace boxcar {

SourcePtr Source::create(std::string name, std::string text) {
  BOXCAR_CHECK(text.size() < std::numeric_limits<uint32_t>::max(),
               "{}: the text has {} bytes; a script must be smaller than 4 GiB", name, text.size());
  return SourcePtr(new Source(std::move(name), std::move(text)));
}

Source::Source(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {
  line_begins_.push_back(0);
  for (size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1)) {
    line_begins_.push_back(static_cast<uint32_t>(at + 1));
  }
}

std::string_view Source::text(Span span) const noexcept {
  const std::string_view all = text_;
  const size_t begin = std::min<size_t>(span.begin, all.size());
  const size_t end = std::min<size_t>(std::max(span.begin, span.end), all.size());
  return all.substr(begin, end - begin);
}

LineColumn Source::position(uint32_t offset) const noexcept {
  offset = std::min<uint32_t>(offset, static_cast<uint32_t>(text_.size()));
  const auto after = std::upper_bound(line_begins_.begin(), line_begins_.end(), offset);
  const uint32_t line = static_cast<uint32_t>(after - line_begins_.begin());
  const uint32_t begin = line_begins_[line - 1];
  return {line, 1 + static_cast<uint32_t>(utf8::countCodePoints(text({begin, offset})))};
}

Span Source::lineSpan(uint32_t line) const noexcept {
  const uint32_t size = static_cast<uint32_t>(text_.size());
  if (line == 0 || line > line_begins_.size()) return {size, size};
  const uint32_t begin = line_begins_[line - 1];
  uint32_t end = line < line_begins_.size() ? line_begins_[line] - 1 : size;
  if (end > begin && text_[end - 1] == '\r') --end;
  return {begin, end};
}

std::string_view Source::line(uint32_t line) const noexcept { return text(lineSpan(line)); }

std::string toString(const Location& location) {
  const LineColumn position = location.source->position(location.span.begin);
  return fmt::format("{}:{}:{}", location.source->name(), position.line, position.column);
}

}  // namespace boxcar
