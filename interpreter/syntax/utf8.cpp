#include <boxcar/interpreter/syntax/utf8.h>

#include <algorithm>

namespace boxcar::utf8 {

size_t countCodePoints(std::string_view text) noexcept {
  return text.size() - std::count_if(text.begin(), text.end(), isContinuation);
}

std::string_view beginning(std::string_view text, size_t bytes) noexcept {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && isContinuation(text[bytes])) --bytes;
  return text.substr(0, bytes);
}

CodePoint decode(std::string_view text) noexcept {
  if (text.empty()) return {};
  const unsigned char lead = text[0];
  if (lead < 0x80) return {lead, 1};
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  char32_t value = lead & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    if (!isContinuation(text[i])) return {};
    value = value << 6 | (text[i] & 0x3F);
  }
  const bool overlong = value < (length == 2 ? 0x80u : length == 3 ? 0x800u : 0x10000u);
  if (overlong || !isScalarValue(value)) return {};
  return {value, length};
}

bool isSpace(char32_t point) noexcept {
  if (point < 0x80) return point == ' ' || (point >= '\t' && point <= '\r') || (point >= 0x1C && point <= 0x1F);
  return point == 0x85 || point == 0xA0 || point == 0x1680 || (point >= 0x2000 && point <= 0x200A) || point == 0x2028 ||
         point == 0x2029 || point == 0x202F || point == 0x205F || point == 0x3000;
}

size_t countSpaces(std::string_view text) noexcept {
  size_t at = 0;
  for (CodePoint point; (point = decode(text.substr(at))).length != 0 && isSpace(point.value);) at += point.length;
  return at;
}

size_t findSpace(std::string_view text) noexcept {
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = decode(text.substr(at));
    if (point.length != 0 && isSpace(point.value)) return at;
    at += std::max<size_t>(point.length, 1);
  }
  return text.size();
}

std::string_view withoutSpaces(std::string_view text) noexcept {
  text.remove_prefix(countSpaces(text));
  while (!text.empty()) {
    size_t last = text.size() - 1;
    while (last > 0 && isContinuation(text[last])) --last;
    const CodePoint point = decode(text.substr(last));
    if (point.length != text.size() - last || !isSpace(point.value)) break;
    text.remove_suffix(point.length);
  }
  return text;
}

}  // namespace boxcar::utf8
