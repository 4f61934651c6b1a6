#include <boxcar/interpreter/syntax/source_excerpt.h>
#include <boxcar/interpreter/syntax/utf8.h>
#include <fmt/format.h>

#include <algorithm>

namespace boxcar {
namespace {

// Longer lines are shown in part: a script may be a single line of megabytes.
constexpr size_t kMaxShownLine = 400;
constexpr size_t kShownBefore = 100;

constexpr std::string_view kBlanks = " \t\r";

// Moves [at] back to the begin of a code point.
size_t codePointBegin(std::string_view text, size_t at) {
  while (at > 0 && at < text.size() && utf8::isContinuation(text[at])) --at;
  return at;
}

// Returns a line that is safe for a terminal: control characters could do anything there.
std::string withoutControls(std::string_view line) {
  std::string shown(line);
  std::ranges::replace_if(
      shown, [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7F; }, '?');
  return shown;
}

}  // namespace

void appendExcerpt(std::string& out, const Source& source, Span span, std::string_view indent, bool trims,
                   TextColours colours) {
  const Span line_span = source.lineSpan(source.position(span.begin).line);
  std::string_view line = source.text(line_span);
  size_t begin = std::min<size_t>(span.begin - line_span.begin, line.size());
  size_t end = std::clamp<size_t>(span.end - line_span.begin, begin, line.size());
  const auto cut = [&](size_t first, size_t last) {
    line = line.substr(first, last - first);
    begin = std::min(begin - std::min(begin, first), line.size());
    end = std::clamp(end - std::min(end, first), begin, line.size());
  };
  if (trims) {
    const size_t first = std::min({line.find_first_not_of(kBlanks), begin, line.size()});
    cut(first, std::max(line.find_last_not_of(kBlanks) + 1, first));
  }
  std::string_view before, after;
  if (line.size() > kMaxShownLine) {
    const size_t first = codePointBegin(line, begin > kShownBefore ? begin - kShownBefore : 0);
    const size_t last = codePointBegin(line, std::min(first + kMaxShownLine, line.size()));
    before = first > 0 ? "..." : "";
    after = last < line.size() ? "..." : "";
    cut(first, last);
  }

  out += fmt::format("{}{}{}{}\n{}", indent, before, withoutControls(line), after, indent);
  out.append(before.size(), ' ');
  for (const char byte : line.substr(0, begin)) {
    if (!utf8::isContinuation(byte)) out += byte == '\t' ? '\t' : ' ';
  }
  const size_t width = utf8::countCodePoints(line.substr(begin, end - begin));
  std::string mark = "^";
  if (width > 1) mark.append(width - 1, '~');
  out += coloured(mark, TextInk::Mark, colours) + '\n';
}

}  // namespace boxcar
