#include <boxcar/interpreter/service/text.h>
#include <boxcar/interpreter/syntax/literals.h>

#include <algorithm>

namespace boxcar::service {

using syntax::isNamePart;

std::string commentAbove(const Source& source, uint32_t offset) {
  std::string comment;
  for (uint32_t line = source.position(offset).line - 1; line >= 1; --line) {
    std::string_view text = source.line(line);
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    if (!text.starts_with('#') || text.starts_with("#!")) break;
    while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
    comment = std::string(withoutHash(text)) + (comment.empty() ? "" : "\n") + comment;
  }
  return comment;
}

Span wordAt(std::string_view text, uint32_t offset) noexcept {
  uint32_t begin = std::min(offset, static_cast<uint32_t>(text.size()));
  uint32_t end = begin;
  while (begin > 0 && isNamePart(text[begin - 1])) --begin;
  while (end < text.size() && isNamePart(text[end])) ++end;
  if (begin < end && syntax::isDigit(text[begin])) return {offset, offset};
  return {begin, end};
}

Span findWord(const Source& source, Span within, std::string_view word) noexcept {
  const std::string_view text = source.text();
  for (size_t at = text.find(word, within.begin); at < within.end; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool is_part = (at > 0 && isNamePart(text[at - 1])) || (end < text.size() && isNamePart(text[end]));
    if (!is_part && end <= within.end) return {static_cast<uint32_t>(at), static_cast<uint32_t>(end)};
  }
  return {};
}

}  // namespace boxcar::service
