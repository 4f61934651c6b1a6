#include <boxcar/interpreter/number_text.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace boxcar::interp {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetterOrDigit(char c) { return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\r\f\v";
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

// Without the `_` between digits; empty where one stands elsewhere.
std::string withoutSeparators(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      result += text[i];
    } else if (i == 0 || i + 1 == text.size() || !isDigit(text[i - 1]) || !isDigit(text[i + 1])) {
      return {};
    }
  }
  return result;
}

// What from_chars wants: no plus sign. Empty where the text cannot be a number.
std::string numberText(std::string_view text) {
  std::string digits = withoutSeparators(trimmed(text));
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
  // Too large or too small: from_chars gives no value, strtod the right one.
  return error == std::errc() ? result : std::strtod(digits.c_str(), nullptr);
}

double roundToDigits(double value, int64_t digits) {
  if (!std::isfinite(value) || digits > 330) return value;
  if (digits < -308) return std::copysign(0.0, value);
  if (digits >= 0) return parseFloat(fmt::format("{:.{}f}", value, digits));
  // The decimal number without its last digits, as text, so that no power of ten has to be divided by.
  const auto places =
      static_cast<int>(std::floor(value == 0 ? 0 : std::log10(std::abs(value))) + static_cast<double>(digits));
  if (places < -1) return std::copysign(0.0, value);
  const double unit = std::pow(10.0, static_cast<double>(-digits));
  return std::nearbyint(value / unit) * unit;
}

}  // namespace boxcar::interp
