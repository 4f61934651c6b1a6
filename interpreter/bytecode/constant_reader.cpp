#include <boxcar/interpreter/bytecode/bytecode_text.h>
#include <boxcar/interpreter/bytecode/constant_reader.h>
#include <boxcar/ivalue/dict.h>

#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace boxcar::interp {
namespace {

constexpr std::string_view kConstantKinds =
    "a constant: None, True, False, a number, a \"text\", complex(re, im), device(\"cpu\"), a list such as int[1, 2], "
    "a tuple or a dict";

class ConstantReader {
 public:
  explicit ConstantReader(LineCursor& line) : line_(line) {}

  IValue value(int depth) {
    const uint32_t begin = line_.skipSpaces();
    if (depth > kMaxConstantDepth) line_.fail({begin, begin}, "constants nest more than {} deep", kMaxConstantDepth);
    switch (line_.peek()) {
      case '"': return readQuoted(line_);
      case '[': return elements(depth, "[", "]");
      case '(': return Tuple(elements(depth, "(", ")"));
      case '{': return entries(depth);
      default: break;
    }
    const std::string_view name = line_.word();
    if (name == "None") return {};
    if (name == "True") return true;
    if (name == "False") return false;
    if (name == "device") return device();
    if (name == "complex" && line_.peek() == '(') return complex();
    if (line_.peek() == '[') {
      if (name == "int") return list<int64_t>(depth, "an int");
      if (name == "float") return list<double>(depth, "a float");
      if (name == "bool") return list<bool>(depth, "True or False");
      if (name == "complex") return list<std::complex<double>>(depth, "a complex(re, im)");
      if (name == "Tensor") return list<Tensor>(depth, "`]`, for no constant is a Tensor");
    }
    line_.moveTo(begin);
    return number();
  }

 private:
  // Reads an int, or a float if it has a point, an exponent or a name.
  IValue number() {
    const uint32_t begin = line_.skipSpaces();
    line_.take("-");
    const std::string_view digits = line_.word(".");
    const bool is_hex = digits == "nan" && line_.peek() == '(';
    const bool is_int = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
    line_.moveTo(begin);
    if (is_int) return line_.number<int64_t>("an int");
    if (is_hex || digits == "nan" || digits == "inf" || (!digits.empty() && digits[0] >= '0' && digits[0] <= '9')) {
      return floating();
    }
    line_.failExpected(kConstantKinds);
  }

  double floating() {
    const uint32_t begin = line_.skipSpaces();
    if (line_.take("nan(0x")) return nanOfBits(begin);
    const bool is_negative = line_.take("-");
    const uint32_t first = line_.at();
    const std::string_view name = line_.word();
    if (name == "inf" || name == "nan") {
      const double value =
          name == "inf" ? std::numeric_limits<double>::infinity() : std::bit_cast<double>(uint64_t{0x7ff8000000000000});
      return std::copysign(value, is_negative ? -1.0 : 1.0);
    }
    line_.moveTo(first);
    if (is_negative && line_.take("-")) line_.failExpected("digits");
    line_.moveTo(begin);
    const std::string_view rest = line_.rest();
    double value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error == std::errc::invalid_argument) line_.failExpected("a float");
    line_.moveTo(begin + static_cast<uint32_t>(end - rest.data()));
    if (error != std::errc()) line_.fail({begin, line_.at()}, "a float of 64 bits cannot hold this number");
    if (!line_.word(".").empty()) line_.fail({begin, line_.at()}, "this is not a number");
    return value;
  }

  double nanOfBits(uint32_t begin) {
    const std::string_view digits = line_.word();
    uint64_t bits = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
    const auto value = std::bit_cast<double>(bits);
    if (error != std::errc() || end != digits.data() + digits.size() || !std::isnan(value)) {
      line_.fail({begin, line_.at()}, "a nan needs 16 hexadecimal digits here");
    }
    line_.need(")");
    return value;
  }

  std::complex<double> complex() {
    line_.need("(");
    const double real = floating();
    line_.need(",");
    const double imaginary = floating();
    line_.need(")");
    return {real, imaginary};
  }

  IValue device() {
    line_.need("(");
    const uint32_t begin = line_.skipSpaces();
    const std::string text = readQuoted(line_);
    const Span span{begin, line_.at()};
    line_.need(")");
    try {
      return Device(text);
    } catch (const Error& error) {
      line_.fail(span, "{}", error.message());
    }
  }

  // [begin] value, value … [end]; the last value may be followed by a comma.
  std::vector<IValue> elements(int depth, std::string_view begin, std::string_view end) {
    std::vector<IValue> values;
    line_.need(begin);
    while (!line_.take(end)) {
      values.push_back(value(depth + 1));
      if (line_.take(end)) break;
      if (!line_.take(",")) line_.failExpected(fmt::format("`,` or `{}`", end));
    }
    return values;
  }

  template <class T>
  List<T> list(int depth, std::string_view expected) {
    const List<T> typed;
    const uint32_t begin = line_.skipSpaces();
    for (const IValue& element : elements(depth, "[", "]")) {
      try {
        typed.push_back(element.to<T>());
      } catch (const Error&) {
        line_.fail({begin, line_.at()}, "each element of this list must be {}, not {}", expected,
                   constantText(element));
      }
    }
    return typed;
  }

  GenericDict entries(int depth) {
    const GenericDict dict;
    line_.need("{");
    while (!line_.take("}")) {
      const uint32_t begin = line_.skipSpaces();
      const IValue key = value(depth + 1);
      const Span span{begin, line_.at()};
      line_.need(":");
      const IValue mapped = value(depth + 1);
      try {
        dict.insert_or_assign(key, mapped);
      } catch (const Error& error) {
        line_.fail(span, "{}", error.message());
      }
      if (line_.take("}")) break;
      if (!line_.take(",")) line_.failExpected("`,` or `}`");
    }
    return dict;
  }

  LineCursor& line_;
};

// Reads the byte after `\x`.
char hexByte(LineCursor& line, uint32_t begin) {
  const std::string_view digits = line.rest().substr(0, 2);
  unsigned value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || digits.size() != 2 || end != digits.data() + 2) {
    line.fail({begin, begin + 2}, "two hexadecimal digits must follow `\\x`");
  }
  line.moveTo(line.at() + 2);
  return static_cast<char>(value);
}

}  // namespace

std::string readQuoted(LineCursor& line) {
  const uint32_t begin = line.skipSpaces();
  if (!line.take("\"")) line.failExpected("a \"text\"");
  std::string text;
  for (;;) {
    const std::string_view rest = line.rest();
    const uint32_t at = line.at();
    if (rest.empty()) line.fail({begin, at}, "this text lacks its closing quote");
    line.moveTo(at + 1);
    if (rest[0] == '"') return text;
    if (rest[0] != '\\') {
      text += rest[0];
      continue;
    }
    const char escape = rest.size() > 1 ? rest[1] : '\0';
    line.moveTo(at + (rest.size() > 1 ? 2 : 1));
    switch (escape) {
      case 'n': text += '\n'; break;
      case '"':
      case '\\': text += escape; break;
      case 'x': text += hexByte(line, at); break;
      default: line.fail({at, line.at()}, "the escapes are \\n, \\\", \\\\ and \\xNN");
    }
  }
}

IValue readConstant(LineCursor& line) { return ConstantReader(line).value(0); }

}  // namespace boxcar::interp
