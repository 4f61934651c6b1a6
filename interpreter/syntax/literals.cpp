#include <boxcar/interpreter/syntax/literals.h>
#include <boxcar/interpreter/syntax/utf8.h>
#include <boxcar/ivalue/append_utf8.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace boxcar::syntax {
namespace {

constexpr uint64_t kLeastMagnitude = uint64_t{1} << 63;
constexpr uint32_t kMaxFormatPlaces = 9999;

char charAt(std::string_view text, size_t index) { return index < text.size() ? text[index] : '\0'; }

int digitValue(char c) {
  if (isDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

// Skips digits of [base] and underscores from [begin] on; returns their end.
size_t skipDigits(std::string_view text, size_t begin, int base = 10) {
  while (begin < text.size() && (text[begin] == '_' || digitValue(text[begin]) < base)) ++begin;
  return begin;
}

// Whether each underscore is between two digits, or between the 0x of an integer and its first digit.
bool underscoresFit(std::string_view text, int base) {
  for (size_t i = text.find('_'); i != std::string_view::npos; i = text.find('_', i + 1)) {
    const bool behind_prefix = base != 10 && i == 2;
    const bool behind_digit = i > 0 && digitValue(text[i - 1]) < base;
    if (!(behind_prefix || behind_digit) || digitValue(charAt(text, i + 1)) >= base) return false;
  }
  return true;
}

void readInteger(std::string_view digits, int base, NumberLiteral& number) {
  for (const char c : digits) {
    if (c == '_') continue;
    const uint64_t digit = static_cast<uint64_t>(digitValue(c));
    if (number.integer > (kLeastMagnitude - digit) / static_cast<uint64_t>(base)) {
      number.integer = 0;
      number.error =
          "this integer does not fit in 64 bits (the largest is 9223372036854775807); write a float, as in 1e20";
      return;
    }
    number.integer = number.integer * static_cast<uint64_t>(base) + digit;
  }
}

double readReal(std::string_view text) {
  std::string digits;
  std::copy_if(text.begin(), text.end(), std::back_inserter(digits), [](char c) { return c != '_'; });
  double value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status != std::errc::result_out_of_range) return value;
  // Too large or too small for a double: the position of the first nonzero digit tells which.
  const size_t e = std::min(digits.find_first_of("eE"), digits.size());
  const size_t point = std::min(digits.find('.'), e);
  const size_t first = digits.find_first_of("123456789");
  int64_t exponent = 0;
  if (e < digits.size()) {
    const bool negative = digits[e + 1] == '-';
    const size_t begin = e + (negative || digits[e + 1] == '+' ? 2 : 1);
    if (std::from_chars(&digits[begin], digits.data() + digits.size(), exponent).ec != std::errc{}) {
      exponent = std::numeric_limits<int64_t>::max() / 2;
    }
    if (negative) exponent = -exponent;
  }
  const int64_t magnitude = static_cast<int64_t>(point) - static_cast<int64_t>(first) + exponent;
  return magnitude > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}

}  // namespace

NumberLiteral readNumber(std::string_view text) {
  NumberLiteral number;
  const char letter = charAt(text, 0) == '0' ? charAt(text, 1) : '\0';
  const int base = letter == 'x' || letter == 'X'   ? 16
                   : letter == 'o' || letter == 'O' ? 8
                   : letter == 'b' || letter == 'B' ? 2
                                                    : 10;
  size_t end = base == 10 ? skipDigits(text, 0) : skipDigits(text, 2, base);
  const size_t digits_end = end;
  if (base == 10) {
    // `1.` is a float and `1.j` imaginary, but `1.sqrt()` calls a method and `1...` is not a number.
    const char after = charAt(text, end + 1);
    const bool exponent_after =
        (after == 'e' || after == 'E') &&
        (isDigit(charAt(text, end + 2)) || charAt(text, end + 2) == '-' || charAt(text, end + 2) == '+');
    const char behind = charAt(text, end + 2);
    const bool j_after = (after == 'j' || after == 'J') && !isNamePart(behind) && behind != '(';
    if (charAt(text, end) == '.' && after != '.' && (!isNameStart(after) || exponent_after || j_after)) {
      end = skipDigits(text, end + 1);
      number.kind = TokenKind::Float;
    }
    if (charAt(text, end) == 'e' || charAt(text, end) == 'E') {
      const size_t sign = charAt(text, end + 1) == '-' || charAt(text, end + 1) == '+' ? 1 : 0;
      if (isDigit(charAt(text, end + 1 + sign))) {
        end = skipDigits(text, end + 1 + sign);
        number.kind = TokenKind::Float;
      }
    }
    if ((charAt(text, end) == 'j' || charAt(text, end) == 'J') && !isNamePart(charAt(text, end + 1))) {
      number.kind = TokenKind::Imaginary;
      ++end;
    }
  }
  number.length = end;
  while (isNamePart(charAt(text, number.length))) ++number.length;

  const std::string_view body = text.substr(0, end);
  const bool no_digits = base != 10 && digits_end == 2;
  if (number.length != end || no_digits || !underscoresFit(body, base)) {
    const std::string_view shown = text.substr(0, std::min<size_t>(number.length, 40));
    number.error = fmt::format("`{}{}` is not a number", shown, shown.size() < number.length ? "..." : "");
  } else if (number.kind != TokenKind::Int) {
    number.real = readReal(body);
  } else if (base == 10 && text[0] == '0' && body.find_first_not_of("0_") != std::string_view::npos) {
    number.error = "an integer cannot begin with 0; write octal as 0o17";
  } else {
    readInteger(base == 10 ? body : body.substr(2), base, number);
  }
  return number;
}

Escape readEscape(std::string_view text, std::string& out) {
  const char kind = charAt(text, 1);
  constexpr std::string_view kPlain = "\\'\"abfnrtv";
  constexpr std::string_view kMeaning = "\\'\"\a\b\f\n\r\t\v";
  if (const size_t plain = kPlain.find(kind); kind != '\0' && plain != std::string_view::npos) {
    out += kMeaning[plain];
    return {2, {}};
  }
  if (kind == '\n') return {2, {}};
  if (kind == '\r' && charAt(text, 2) == '\n') return {3, {}};

  if (digitValue(kind) < 8) {
    char32_t value = 0;
    size_t end = 1;
    while (end < 4 && digitValue(charAt(text, end)) < 8)
      value = value * 8 + static_cast<char32_t>(digitValue(text[end++]));
    appendUtf8(out, value);
    return {end, {}};
  }

  const size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
  if (digits != 0) {
    char32_t value = 0;
    size_t end = 2;
    while (end < 2 + digits && digitValue(charAt(text, end)) < 16) {
      value = value << 4 | static_cast<char32_t>(digitValue(text[end++]));
    }
    if (end != 2 + digits) return {end, fmt::format("`\\{}` takes {} hexadecimal digits", kind, digits)};
    if (!utf8::isScalarValue(value)) return {end, fmt::format("`{}` is not a Unicode character", text.substr(0, end))};
    appendUtf8(out, value);
    return {end, {}};
  }
  if (kind == 'N') return {2, "characters have no names here; write the code point, as in `\\u00e9`"};

  const size_t length = 1 + std::max<size_t>(utf8::decode(text.substr(1)).length, text.size() > 1 ? 1 : 0);
  return {length, fmt::format("`{}` is not an escape; write a backslash as `\\\\`", text.substr(0, length))};
}

std::optional<FormatSpec> readFormatSpec(std::string_view text) {
  FormatSpec spec;
  const auto isAlign = [](char c) { return c == '<' || c == '>' || c == '^'; };
  const auto take = [&](char c) {
    const bool found = charAt(text, 0) == c && !text.empty();
    if (found) text.remove_prefix(1);
    return found;
  };
  const auto takeNumber = [&]() -> std::optional<uint32_t> {
    uint32_t value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || value > kMaxFormatPlaces) return {};
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return value;
  };

  const size_t fill = utf8::decode(text).length;
  if (fill != 0 && isAlign(charAt(text, fill))) {
    spec.fill = text.substr(0, fill);
    text.remove_prefix(fill);
  }
  if (isAlign(charAt(text, 0))) {
    spec.align = text[0];
    text.remove_prefix(1);
  }
  spec.plus = take('+');
  spec.zero = take('0');
  if (isDigit(charAt(text, 0))) {
    spec.width = takeNumber();
    if (!spec.width) return {};
  }
  spec.comma = take(',');
  if (take('.')) {
    spec.precision = takeNumber();
    if (!spec.precision) return {};
  }
  if (!text.empty() && std::string_view("dfegxs%").find(text[0]) != std::string_view::npos) {
    spec.type = text[0];
    text.remove_prefix(1);
  }
  if (!text.empty()) return {};
  return spec;
}

}  // namespace boxcar::syntax
