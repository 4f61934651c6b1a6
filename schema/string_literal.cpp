#include <boxcar/ivalue/append_utf8.h>
#include <boxcar/schema/string_literal.h>

#include <charconv>
#include <cstdint>

namespace boxcar::detail {
namespace {

std::size_t quoteLength(std::string_view literal) {
  return literal.size() >= 6 && literal[0] == literal[1] && literal[0] == literal[2] ? 3 : 1;
}

// Reads the number after an escape, which must have all [digits] digits.
bool readCode(std::string_view text, std::size_t digits, int base, std::uint32_t& code) {
  if (text.size() < digits) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, code, base);
  return error == std::errc() && end == text.data() + digits;
}

// Reads the escape at the start of [rest] and returns its length, or 0 if Python has no such escape.
std::size_t readEscape(std::string_view rest, std::string& text) {
  const char letter = rest[1];
  std::uint32_t code = 0;
  switch (letter) {
    case '\n': return 2;
    case '\\':
    case '\'':
    case '"': text += letter; return 2;
    case 'a': text += '\a'; return 2;
    case 'b': text += '\b'; return 2;
    case 'f': text += '\f'; return 2;
    case 'n': text += '\n'; return 2;
    case 'r': text += '\r'; return 2;
    case 't': text += '\t'; return 2;
    case 'v': text += '\v'; return 2;
    case 'x':
      if (!readCode(rest.substr(2), 2, 16, code)) return 0;
      text += static_cast<char>(code);  // a byte, so that text in any encoding can be written
      return 4;
    case 'u':
    case 'U': {
      const std::size_t digits = letter == 'u' ? 4 : 8;
      if (!readCode(rest.substr(2), digits, 16, code) || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return 0;
      appendUtf8(text, code);
      return 2 + digits;
    }
    default:
      if (!readCode(rest.substr(1), 3, 8, code) || code > 0xff) return 0;
      text += static_cast<char>(code);
      return 4;
  }
}

}  // namespace

const char* quotedEnd(const char* first, const char* last) noexcept {
  const char quote = *first;
  const bool is_triple = last - first >= 3 && first[1] == quote && first[2] == quote;
  const char* at = first + (is_triple ? 3 : 1);
  for (; at != last; ++at) {
    if (*at == '\\') {
      if (++at == last) return nullptr;
    } else if (*at == '\n' && !is_triple) {
      return nullptr;
    } else if (*at == quote) {
      if (!is_triple) return at + 1;
      if (last - at >= 3 && at[1] == quote && at[2] == quote) return at + 3;
    }
  }
  return nullptr;
}

std::string unquoted(const SourceText& source, std::string_view literal) {
  const std::size_t quote = quoteLength(literal);
  std::string_view inside = literal.substr(quote, literal.size() - 2 * quote);
  std::string text;
  text.reserve(inside.size());
  while (!inside.empty()) {
    const std::size_t plain = std::min(inside.find('\\'), inside.size());
    text += inside.substr(0, plain);
    inside.remove_prefix(plain);
    if (inside.empty()) break;
    const std::size_t escape = readEscape(inside, text);
    if (escape == 0) {
      source.fail(
          inside.substr(0, 2),
          std::string(inside.substr(0, 2)) +
              " does not begin an escape: there are \\\\ \\' \\\" \\a \\b \\f \\n \\r \\t \\v, \\ooo with three octal "
              "digits, \\xhh, \\uhhhh and \\Uhhhhhhhh");
    }
    inside.remove_prefix(escape);
  }
  return text;
}

}  // namespace boxcar::detail
