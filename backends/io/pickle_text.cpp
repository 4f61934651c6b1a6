#include <boxcar/backends/io/pickle_text.h>
#include <boxcar/ivalue/append_utf8.h>

#include <charconv>
#include <cstddef>

namespace boxcar::io {
namespace {

// Returns the number of [count] digits of [base] at the start of [text], at most 255 or 0x10ffff.
std::optional<uint32_t> digitsAt(std::string_view text, size_t count, int base) {
  uint32_t value = 0;
  if (text.size() < count) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + count, value, base);
  if (error != std::errc() || end != text.data() + count) return std::nullopt;
  return value;
}

// Returns what a backslash and [letter] stand for; 0 if nothing of one letter.
char unescaped(char letter) {
  constexpr std::string_view kLetters = "\\'\"abfnrtv";
  constexpr std::string_view kMeanings = "\\'\"\a\b\f\n\r\t\v";
  const size_t at = kLetters.find(letter);
  return at == std::string_view::npos ? '\0' : kMeanings[at];
}

}  // namespace

std::optional<std::string> decodePythonString(std::string_view quoted) {
  if (quoted.size() < 2 || quoted.front() != quoted.back() || (quoted.front() != '\'' && quoted.front() != '"'))
    return std::nullopt;
  const std::string_view text = quoted.substr(1, quoted.size() - 2);
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      decoded += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    if (const char plain = unescaped(text[i])) {
      decoded += plain;
    } else if (text[i] == 'x') {
      const auto value = digitsAt(text.substr(i + 1), 2, 16);
      if (!value) return std::nullopt;
      decoded += static_cast<char>(*value);
      i += 2;
    } else if (const auto octal = digitsAt(text.substr(i), 3, 8); octal && *octal < 256) {
      decoded += static_cast<char>(*octal);
      i += 2;
    } else {
      return std::nullopt;
    }
  }
  return decoded;
}

std::optional<std::string> decodeRawUnicode(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (text[i] != '\\' || (next != 'u' && next != 'U')) {
      appendUtf8(decoded, static_cast<unsigned char>(text[i]));
      continue;
    }
    const size_t count = next == 'u' ? 4 : 8;
    const auto value = digitsAt(text.substr(i + 2), count, 16);
    if (!value || *value > 0x10ffff) return std::nullopt;
    appendUtf8(decoded, *value);
    i += count + 1;
  }
  return decoded;
}

std::optional<std::string> latin1OfUtf8(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto first = static_cast<unsigned char>(text[i]);
    if (first < 0x80) {
      bytes += text[i];
      continue;
    }
    // The characters 128 to 255 begin with one of two bytes.
    if ((first != 0xc2 && first != 0xc3) || i + 1 == text.size()) return std::nullopt;
    const auto second = static_cast<unsigned char>(text[++i]);
    if ((second & 0xc0) != 0x80) return std::nullopt;
    bytes += static_cast<char>((first & 3) << 6 | (second & 0x3f));
  }
  return bytes;
}

std::optional<int64_t> parsePickledInt(std::string_view digits) {
  if (digits.ends_with('L')) digits.remove_suffix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> littleEndianInt(std::string_view bytes) {
  constexpr size_t kMost = sizeof(int64_t);
  const bool is_negative = !bytes.empty() && (bytes.back() & 0x80) != 0;
  const char sign = is_negative ? '\xff' : '\0';
  // Longer numbers fit if the bytes behind repeat the sign.
  while (bytes.size() > kMost && bytes.back() == sign) bytes.remove_suffix(1);
  if (bytes.size() > kMost || (bytes.size() == kMost && ((bytes.back() & 0x80) != 0) != is_negative))
    return std::nullopt;
  uint64_t value = is_negative ? ~uint64_t{0} : 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return static_cast<int64_t>(value);
}

}  // namespace boxcar::io
