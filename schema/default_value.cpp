#include <boxcar/ivalue/python_text.h>
#include <boxcar/schema/default_value.h>
#include <boxcar/schema/string_literal.h>
#include <boxcar/schema/value_type.h>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <utility>

namespace boxcar::detail {
namespace {

enum class NumberKind : std::uint8_t { Int, Float, Imaginary };

struct Reader {
  const SourceText& source;
  // The argument's type, for messages.
  TypePtr type;

  [[noreturn]] void failType(const Literal& literal) const {
    if (literal.text == "None") {
      source.fail(literal.text, fmt::format("None is not a default of type {}: write {}? to allow it", *type, *type));
    }
    source.fail(literal.text, fmt::format("{} is not a default of type {}", literal.text, *type));
  }

  NumberKind kindOf(const Literal& number) const {
    std::string_view digits = number.digits;
    const bool is_imaginary = digits.back() == 'j';
    if (is_imaginary) digits.remove_suffix(1);

    const auto skipDigits = [&digits] {
      const std::size_t count = std::min(digits.find_first_not_of("0123456789"), digits.size());
      digits.remove_prefix(count);
      return count;
    };
    const auto skip = [&digits](std::string_view letters) {
      const bool found = !digits.empty() && letters.find(digits.front()) != std::string_view::npos;
      if (found) digits.remove_prefix(1);
      return found;
    };
    bool is_float = false;
    std::size_t mantissa = skipDigits();
    if (skip(".")) {
      is_float = true;
      mantissa += skipDigits();
    }
    bool is_whole = mantissa > 0;
    if (skip("eE")) {
      is_float = true;
      skip("+-");
      is_whole = is_whole && skipDigits() > 0;
    }
    if (!is_whole || !digits.empty()) {
      source.fail(number.text, fmt::format("{} is not a number: write it in decimal digits, like 16, 1.5, 1e-05 or 2j",
                                           number.text));
    }
    return is_imaginary ? NumberKind::Imaginary : is_float ? NumberKind::Float : NumberKind::Int;
  }

  std::int64_t readInt(const Literal& number) const {
    std::uint64_t magnitude = 0;
    const char* const last = number.digits.data() + number.digits.size();
    const auto [end, error] = std::from_chars(number.digits.data(), last, magnitude);
    const std::uint64_t limit =
        static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) + number.is_negative;
    if (error != std::errc() || end != last || magnitude > limit) {
      source.fail(number.text, fmt::format("{} does not fit into an int, which has 64 bits", number.text));
    }
    return static_cast<std::int64_t>(number.is_negative ? 0 - magnitude : magnitude);
  }

  double readFloat(const Literal& number) const {
    double value = 0;
    const auto [end, error] = std::from_chars(number.digits.data(), number.digits.data() + number.digits.size(), value);
    if (error != std::errc()) source.fail(number.text, fmt::format("{} does not fit into a float", number.text));
    return number.is_negative ? -value : value;
  }

  // Returns the int that a word stands for: schemas used such words before enumerations had types.
  static std::optional<std::int64_t> namedInt(std::string_view word) {
    constexpr std::int64_t kReductionMean = 1;
    if (word == "Mean") return kReductionMean;
    if (word == "strided") return static_cast<std::int64_t>(Layout::Strided);
    if (word == "contiguous_format") return static_cast<std::int64_t>(MemoryFormat::Contiguous);
    if (word == "float") return static_cast<std::int64_t>(ScalarType::Float);
    if (word == "complex") return static_cast<std::int64_t>(ScalarType::ComplexFloat);
    if (word == "long") return static_cast<std::int64_t>(ScalarType::Long);
    return std::nullopt;
  }

  IValue readNamed(const Literal& word, TypeKind kind) const {
    std::optional<std::int64_t> value;
    switch (kind) {
      case TypeKind::ScalarType:
        if (word.text == "complex") {
          value = namedInt(word.text);
        } else if (const std::optional<ScalarType> dtype = parseDtype(word.text)) {
          value = static_cast<std::int64_t>(*dtype);
        }
        break;
      case TypeKind::Layout:
        if (word.text == "strided") value = namedInt(word.text);
        break;
      case TypeKind::MemoryFormat:
        if (word.text == "contiguous_format") value = namedInt(word.text);
        break;
      default: value = namedInt(word.text); break;
    }
    if (!value) failType(word);
    return IValue(*value);
  }

  IValue readNumber(const Literal& number, TypeKind kind) const {
    const NumberKind number_kind = kindOf(number);
    switch (kind) {
      case TypeKind::Int:
        if (number_kind == NumberKind::Int) return IValue(readInt(number));
        break;
      case TypeKind::Float:
        if (number_kind != NumberKind::Imaginary) return IValue(readFloat(number));
        break;
      case TypeKind::Complex:
        return IValue(number_kind == NumberKind::Imaginary ? std::complex<double>(0, readFloat(number))
                                                           : std::complex<double>(readFloat(number), 0));
      case TypeKind::Scalar:
      case TypeKind::Any:
        if (number_kind == NumberKind::Int) return IValue(readInt(number));
        if (number_kind == NumberKind::Float) return IValue(readFloat(number));
        return IValue(std::complex<double>(0, readFloat(number)));
      default: break;
    }
    failType(number);
  }

  IValue readOne(const Literal& literal, TypePtr wanted) const {
    const TypeKind kind = wanted->underlying()->kind();
    switch (literal.kind) {
      case Literal::Kind::Number: return readNumber(literal, kind);
      case Literal::Kind::String:
        if (kind == TypeKind::String || kind == TypeKind::Any) return IValue(unquoted(source, literal.text));
        if (kind == TypeKind::Device) return readDevice(literal);
        break;
      case Literal::Kind::Word: {
        const bool is_true = literal.text == "True";
        if (is_true || literal.text == "False") {
          if (kind == TypeKind::Bool || kind == TypeKind::Scalar || kind == TypeKind::Any) return IValue(is_true);
        } else if (kind == TypeKind::Int) {
          return readNamed(literal, wanted->kind());
        }
        break;
      }
    }
    failType(literal);
  }

  IValue readDevice(const Literal& literal) const {
    try {
      return IValue(Device(unquoted(source, literal.text)));
    } catch (const SchemaError&) {
      throw;
    } catch (const Error& error) {
      source.fail(literal.text, error.message());
    }
  }

  template <class T, class Read>
  IValue fill(std::span<const Literal> literals, std::size_t count, Read read) const {
    List<T> list;
    list.reserve(count);
    for (std::size_t i = 0; i < count; ++i) list.push_back(read(literals[literals.size() == 1 ? 0 : i]));
    return IValue(std::move(list));
  }

  IValue readList(std::span<const Literal> literals, std::size_t count, TypePtr element) const {
    const auto one = [&](const Literal& literal) { return readOne(literal, element); };
    switch (element->underlying()->kind()) {
      case TypeKind::Int:
        return fill<std::int64_t>(literals, count, [&](const Literal& literal) { return one(literal).toInt(); });
      case TypeKind::Float:
        return fill<double>(literals, count, [&](const Literal& literal) { return one(literal).toDouble(); });
      case TypeKind::Bool:
        return fill<bool>(literals, count, [&](const Literal& literal) { return one(literal).toBool(); });
      default:
        return fill<std::complex<double>>(literals, count,
                                          [&](const Literal& literal) { return one(literal).toComplexDouble(); });
    }
  }
};

bool isListWithDefaults(TypePtr type) {
  if (!type->isList()) return false;
  const TypeKind kind = type->element()->underlying()->kind();
  return kind == TypeKind::Int || kind == TypeKind::Float || kind == TypeKind::Bool || kind == TypeKind::Complex;
}

// Whether some value of this type, other than None, can be written as a default.
bool isScalarWithDefaults(TypePtr type) {
  switch (type->underlying()->kind()) {
    case TypeKind::Bool:
    case TypeKind::Int:
    case TypeKind::Float:
    case TypeKind::Complex:
    case TypeKind::Scalar:
    case TypeKind::String:
    case TypeKind::Device: return true;
    default: return false;
  }
}

constexpr std::string_view kNoListDefaults =
    "has no defaults: only bool, int, float, complex, Scalar, str, Device and lists of bool, int, float or complex "
    "have";

}  // namespace

IValue readDefault(const SourceText& source, const DefaultText& parsed, TypePtr type, std::int32_t size) {
  const Reader reader{source, type};
  const std::span<const Literal> literals = parsed.literals;
  if (type->isOptional()) {
    if (!parsed.is_list && literals[0].text == "None") return IValue();
    const TypePtr inner = type->element();
    if (!parsed.is_list && (isScalarWithDefaults(inner) || inner->kind() == TypeKind::Any)) {
      return reader.readOne(literals[0], inner);
    }
    source.fail(parsed.text, fmt::format("{} is not a default of type {}: the only one is None", parsed.text, *type));
  }
  if (isListWithDefaults(type)) {
    if (!parsed.is_list) {
      if (literals[0].text == "None") reader.failType(literals[0]);
      if (size < 0) {
        source.fail(parsed.text, fmt::format("{} is not a default of type {}: write [{}], or a length like {}[2], "
                                             "where one value stands for all elements",
                                             parsed.text, *type, parsed.text, *type->element()));
      }
      return reader.readList(literals, static_cast<std::size_t>(size), type->element());
    }
    // A length of 1 accepts lists of any length: if one value may stand for a list, the list may be of any length.
    if (size > 1 && !literals.empty() && literals.size() != static_cast<std::size_t>(size)) {
      source.fail(parsed.text, fmt::format("{} has {} element{} where {}[{}] takes {}", parsed.text, literals.size(),
                                           literals.size() == 1 ? "" : "s", *type->element(), size, size));
    }
    return reader.readList(literals, literals.size(), type->element());
  }
  if (!isScalarWithDefaults(type)) {
    if (!parsed.is_list && literals[0].text == "None" && !type->isList()) reader.failType(literals[0]);
    source.fail(parsed.text, fmt::format("type {} {}", *type, kNoListDefaults));
  }
  if (parsed.is_list) source.fail(parsed.text, fmt::format("{} is not a default of type {}", parsed.text, *type));
  return reader.readOne(literals[0], type);
}

namespace {

// [is_complex] says whether the type is complex; otherwise a number needs its `j` to be read as complex.
std::string spell(const IValue& value, bool is_complex) {
  switch (value.tag()) {
    case IValue::Tag::None: return "None";
    case IValue::Tag::Bool: return value.toBool() ? "True" : "False";
    case IValue::Tag::Int: return std::to_string(value.toInt());
    case IValue::Tag::Double:
      BOXCAR_CHECK(std::isfinite(value.toDouble()), "a default cannot be {}: schemas cannot write it",
                   pythonFloat(value.toDouble()));
      return pythonFloat(value.toDouble());
    case IValue::Tag::ComplexDouble: {
      const std::complex<double> number = value.toComplexDouble();
      BOXCAR_CHECK(std::isfinite(number.real()) && std::isfinite(number.imag()) &&
                       (number.real() == 0 || (number.imag() == 0 && is_complex)),
                   "a default cannot be {}: schemas write complex numbers as 2j, or 1.5 where the type is complex",
                   pythonComplex(number));
      return number.real() != 0 ? pythonFloat(number.real()) : pythonFloat(number.imag()) + "j";
    }
    case IValue::Tag::String: return pythonStringRepr(value.toStringView());
    case IValue::Tag::Device: return pythonStringRepr(toString(value.toDevice()));
    case IValue::Tag::IntList:
    case IValue::Tag::DoubleList:
    case IValue::Tag::BoolList:
    case IValue::Tag::ComplexDoubleList: {
      std::string text = "[";
      for (std::size_t i = 0; i < value.length(); ++i) {
        if (i != 0) text += ',';
        text += spell(value.elementAt(i), is_complex);
      }
      return text += ']';
    }
    default: BOXCAR_FAIL("a default cannot be a value of kind {}: schemas have no way to write it", value.tagKind());
  }
}

}  // namespace

std::string spellDefault(const IValue& value, TypePtr type, std::int32_t size) {
  BOXCAR_CHECK(matches(value, type), "the default {} is not of type {}", repr(value), *type);
  const bool has_defaults = isScalarWithDefaults(type) || isListWithDefaults(type) ||
                            (type->isOptional() && (value.isNone() || isScalarWithDefaults(type->element()) ||
                                                    type->element()->kind() == TypeKind::Any));
  BOXCAR_CHECK(has_defaults, "type {} {}", *type, kNoListDefaults);
  if (value.isList() && size > 1 && value.length() != 0) {
    BOXCAR_CHECK(value.length() == static_cast<std::size_t>(size),
                 "the default {} has {} elements where {}[{}] takes {}", repr(value), value.length(), *type->element(),
                 size, size);
  }
  const TypePtr leaf = type->isOptional() || type->isList() ? type->element() : type;
  return spell(value, leaf->kind() == TypeKind::Complex);
}

}  // namespace boxcar::detail
