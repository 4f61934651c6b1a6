#include <boxcar/interpreter/syntax/literals.h>
#include <boxcar/interpreter/syntax/number_text.h>
#include <boxcar/interpreter/syntax/utf8.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace boxcar::interp {
namespace {

bool isLetterOrDigit(char c) { return syntax::isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Removes each `_` between digits; returns an empty text if one is elsewhere.
std::string withoutSeparators(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      result += text[i];
    } else if (i == 0 || i + 1 == text.size() || !syntax::isDigit(text[i - 1]) || !syntax::isDigit(text[i + 1])) {
      return {};
    }
  }
  return result;
}

// Returns the text in the form for from_chars: without a plus sign. Empty if it cannot be a number.
std::string numberText(std::string_view text) {
  std::string digits = withoutSeparators(utf8::withoutSpaces(text));
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.erase(0, 1);
  const size_t first = digits.starts_with('-') ? 1 : 0;
  if (digits.size() == first || !(isLetterOrDigit(digits[first]) || digits[first] == '.')) return {};
  return digits;
}

}  // namespace

int64_t parseInt(std::string_view text) {
  const std::string digits = numberText(text);
  int64_t result = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
  const bool is_whole = !digits.empty() && end == digits.data() + digits.size();
  BOXCAR_CHECK(!(is_whole && error == std::errc::result_out_of_range), "int({}) does not fit 64 bits",
               pythonStringRepr(text));
  BOXCAR_CHECK(is_whole && error == std::errc(), "int() cannot read {}", pythonStringRepr(text));
  return result;
}

double parseFloat(std::string_view text) {
  std::string digits = numberText(text);
  std::ranges::transform(digits, digits.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  double result = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
  BOXCAR_CHECK(!digits.empty() && end == digits.data() + digits.size() && digits.find('(') == std::string::npos,
               "float() cannot read {}", pythonStringRepr(text));
  // Too large or too small: from_chars gives no value, strtod gives the right one.
  return error == std::errc() ? result : std::strtod(digits.c_str(), nullptr);
}

namespace {

// Adds one in the last place of a whole number's decimal digits.
std::string incremented(std::string digits) {
  size_t place = digits.size();
  while (place > 0 && digits[place - 1] == '9') digits[--place] = '0';
  if (place == 0) return digits.insert(0, 1, '1');
  ++digits[place - 1];
  return digits;
}

// Rounds to a multiple of 10 to the power [zeros]; halves go to the even neighbour. Uses decimal digits, which are
// exact.
double roundToZeros(double value, size_t zeros) {
  const double whole = std::floor(std::abs(value));
  std::string digits = fmt::format("{:.0f}", whole);
  if (digits.size() < zeros) return std::copysign(0.0, value);
  const std::string dropped = digits.substr(digits.size() - zeros);
  digits.erase(digits.size() - zeros);
  // How the dropped part compares to a half.
  int order = dropped[0] - '5';
  if (order == 0 && dropped.find_first_not_of('0', 1) != std::string::npos) order = 1;
  const bool is_above_half = order > 0 || (order == 0 && std::abs(value) > whole);
  const bool is_odd = !digits.empty() && (digits.back() - '0') % 2 != 0;
  if (is_above_half || (order == 0 && is_odd)) digits = incremented(std::move(digits));
  if (digits.empty()) return std::copysign(0.0, value);
  return std::copysign(parseFloat(digits + "e" + std::to_string(zeros)), value);
}

}  // namespace

double roundToDigits(double value, int64_t digits) {
  if (!std::isfinite(value) || digits > 330) return value;
  if (digits < -309) return std::copysign(0.0, value);
  const double result = digits >= 0 ? parseFloat(fmt::format("{:.{}f}", value, digits))
                                    : roundToZeros(value, static_cast<size_t>(-digits));
  BOXCAR_CHECK(std::isfinite(result), "round({}, {}) is too large for a float", pythonFloat(value), digits);
  return result;
}

}  // namespace boxcar::interp
