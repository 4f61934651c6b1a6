#include <boxcar/interpreter/runtime/format_value.h>
#include <boxcar/interpreter/runtime/value_operations.h>
#include <boxcar/interpreter/syntax/literals.h>
#include <boxcar/interpreter/syntax/utf8.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace boxcar::interp {
namespace {

using syntax::FormatSpec;

// A number's text in parts: its sign, the digits before the point, the rest.
struct NumberText {
  std::string sign;
  std::string whole;
  std::string rest;
};

NumberText takeApart(std::string text) {
  NumberText number;
  if (text.starts_with('-')) {
    number.sign = "-";
    text.erase(0, 1);
  }
  const auto end = std::ranges::find_if(text, [](char c) { return c < '0' || c > '9'; });
  number.whole.assign(text.begin(), end);
  number.rest.assign(end, text.end());
  return number;
}

std::string grouped(const std::string& digits, size_t size) {
  std::string result;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % size == 0) result += ',';
    result += digits[i];
  }
  return result;
}

std::string aligned(const FormatSpec& spec, std::string text, char default_align) {
  const size_t size = utf8::countCodePoints(text);
  const size_t width = spec.width.value_or(0);
  if (size >= width) return text;
  const std::string fill = !spec.fill.empty() ? spec.fill : spec.zero ? "0" : " ";
  const size_t missing = width - size;
  const char align = spec.align != 0 ? spec.align : default_align;
  const size_t before = align == '<' ? 0 : align == '>' ? missing : missing / 2;
  std::string result;
  for (size_t i = 0; i < before; ++i) result += fill;
  result += text;
  for (size_t i = before; i < missing; ++i) result += fill;
  return result;
}

std::string finishNumber(const FormatSpec& spec, NumberText number) {
  if (number.sign.empty() && spec.plus) number.sign = "+";
  if (spec.zero && spec.align == 0) {
    // Zeros go between sign and digits; with grouping, they are grouped like digits.
    const size_t width = spec.width.value_or(0);
    const size_t taken = number.sign.size() + number.rest.size();
    const auto size = [&] { return taken + (spec.comma ? grouped(number.whole, 3).size() : number.whole.size()); };
    while (!number.whole.empty() && size() < width) number.whole.insert(0, 1, '0');
    if (number.whole.empty() && size() < width) number.sign.append(width - size(), '0');
  }
  if (spec.comma) number.whole = grouped(number.whole, 3);
  return aligned(spec, number.sign + number.whole + number.rest, '>');
}

// Like 'g', but a float never looks like an int, so one digit fewer fits before the point.
std::string formatWithoutType(double value, int digits) {
  const std::string in_exponent_form = fmt::format("{:.{}e}", value, digits - 1);
  const size_t e = in_exponent_form.find('e');
  if (std::atoi(in_exponent_form.c_str() + e + 1) != digits - 1) {
    std::string text = fmt::format("{:.{}g}", value, digits);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
  }
  std::string mantissa = in_exponent_form.substr(0, e);
  if (mantissa.find('.') != std::string::npos) {
    mantissa.resize(mantissa.find_last_not_of('0') + 1);
    if (mantissa.back() == '.') mantissa.pop_back();
  }
  return mantissa + in_exponent_form.substr(e);
}

std::string formatFloat(const FormatSpec& spec, double value) {
  const int precision = static_cast<int>(spec.precision.value_or(6));
  const bool is_percent = spec.type == '%';
  std::string text;
  if (!std::isfinite(value)) {
    text = pythonFloat(value);
    if (is_percent) text += '%';
  } else {
    switch (spec.type) {
      case 'f': text = fmt::format("{:.{}f}", value, precision); break;
      case 'e': text = fmt::format("{:.{}e}", value, precision); break;
      case 'g': text = fmt::format("{:.{}g}", value, std::max(precision, 1)); break;
      case '%': text = fmt::format("{:.{}f}%", value * 100, precision); break;
      default:
        if (!spec.precision) {
          text = pythonFloat(value);
        } else {
          text = formatWithoutType(value, std::max(precision, 1));
        }
    }
  }
  return finishNumber(spec, takeApart(std::move(text)));
}

std::string formatInt(const FormatSpec& spec, int64_t value) {
  BOXCAR_CHECK(!spec.precision, "an int has no precision in a format: '.{}'", *spec.precision);
  if (spec.type != 'x') return finishNumber(spec, takeApart(std::to_string(value)));
  BOXCAR_CHECK(!spec.comma, "a hexadecimal number has no ',' in its format");
  const uint64_t magnitude = value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  return finishNumber(spec, {value < 0 ? "-" : "", fmt::format("{:x}", magnitude), ""});
}

std::string formatText(const FormatSpec& spec, std::string text) {
  BOXCAR_CHECK(!spec.plus && !spec.comma, "'+' and ',' in a format are for numbers");
  if (spec.precision && utf8::countCodePoints(text) > *spec.precision) {
    size_t end = 0;
    for (uint32_t i = 0; i <= *spec.precision; ++i) {
      if (i != 0) ++end;
      while (end < text.size() && utf8::isContinuation(text[end])) ++end;
    }
    text.resize(*spec.precision == 0 ? 0 : end);
  }
  return aligned(spec, std::move(text), '<');
}

}  // namespace

std::string formatValue(const IValue& value, std::string_view spec_text) {
  if (spec_text.empty()) return toString(value);
  const std::optional<FormatSpec> spec = syntax::readFormatSpec(spec_text);
  BOXCAR_CHECK(spec.has_value(), "'{}' is no format", spec_text);
  const bool is_float_form = spec->type == 'f' || spec->type == 'e' || spec->type == 'g' || spec->type == '%';
  const bool is_int_form = spec->type == 'd' || spec->type == 'x';
  if (value.isInt() || value.isBool()) {
    const int64_t number = value.isInt() ? value.toInt() : value.toBool();
    if (is_float_form) return formatFloat(*spec, static_cast<double>(number));
    if (spec->type != 's') return formatInt(*spec, number);
  } else if (value.isDouble() && !is_int_form && spec->type != 's') {
    return formatFloat(*spec, value.toDouble());
  } else if (!is_float_form && !is_int_form) {
    return formatText(*spec, toString(value));
  }
  BOXCAR_FAIL("'{}' is not a format for {}{}", spec->type, kindName(value),
              value.isTensor() ? "; it is a format for the number that item() returns" : "");
}

}  // namespace boxcar::interp
