// int, float, bool, min, max, abs, round, sum; math::.

#include <boxcar/interpreter/runtime/arithmetic.h>
#include <boxcar/interpreter/runtime/builtin_table.h>
#include <boxcar/interpreter/runtime/container_operations.h>
#include <boxcar/interpreter/runtime/dynamic_call.h>
#include <boxcar/interpreter/runtime/value_operations.h>
#include <boxcar/interpreter/syntax/number_text.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cmath>

namespace boxcar::interp {
namespace {

// Returns the number in a tensor of one element; other values unchanged.
IValue itemOf(const IValue& value) { return value.isTensor() ? callOperator("aten::item", {&value, 1}) : value; }

IValue toIntValue(std::span<IValue> arguments) {
  IValue value = itemOf(arguments[0]);
  if (value.isInt()) return value;
  if (value.isBool()) return int64_t{value.toBool()};
  if (value.isDouble()) return floatToInt(value.toDouble());
  BOXCAR_CHECK(value.isString(), "int() takes a number or a str, not {}", kindName(value));
  return parseInt(value.toStringRef());
}

IValue toFloatValue(std::span<IValue> arguments) {
  IValue value = itemOf(arguments[0]);
  if (value.isDouble()) return value;
  if (value.isInt()) return static_cast<double>(value.toInt());
  if (value.isBool()) return static_cast<double>(value.toBool());
  BOXCAR_CHECK(value.isString(), "float() takes a number or a str, not {}", kindName(value));
  return parseFloat(value.toStringRef());
}

bool isNumberType(TypePtr type) {
  const TypeKind kind = type->kind();
  return kind == TypeKind::Bool || kind == TypeKind::Int || kind == TypeKind::Float || kind == TypeKind::Scalar;
}

// Whether int() and float() accept the type.
bool isReadAsNumber(TypePtr type) {
  const TypeKind kind = type->underlying()->kind();
  return isNumberType(type) || kind == TypeKind::Int || kind == TypeKind::String || kind == TypeKind::Tensor ||
         kind == TypeKind::Any;
}

// Returns the first element in the order [wanted].
template <int wanted>
IValue extreme(std::span<IValue> arguments) {
  const char* name = wanted < 0 ? "min" : "max";
  if (arguments[0].isTensor()) return callOperator(wanted < 0 ? "aten::min" : "aten::max", arguments);
  const std::vector<IValue> elements =
      arguments.size() == 1 ? elementsOf(arguments[0]) : std::vector<IValue>(arguments.begin(), arguments.end());
  BOXCAR_CHECK(!elements.empty(), "{}() of nothing: the sequence is empty", name);
  const IValue* best = &elements[0];
  for (const IValue& element : elements) {
    if (orderValues(element, *best) == wanted) best = &element;
  }
  return *best;
}

TypePtr extremeType(std::span<const TypePtr> arguments) {
  if (arguments.size() == 1) return iteratedType(arguments[0]);
  TypePtr common = arguments[0];
  for (const TypePtr type : arguments) {
    if (type != common) common = isNumberType(type) && isNumberType(common) ? Type::scalar() : Type::any();
  }
  return common;
}

IValue absolute(std::span<IValue> arguments) {
  const IValue& value = arguments[0];
  if (value.isBool()) return int64_t{value.toBool()};
  if (value.isInt()) return value.toInt() < 0 ? negInt(value.toInt()) : value.toInt();
  if (value.isDouble()) return std::abs(value.toDouble());
  if (value.isComplexDouble()) return std::abs(value.toComplexDouble());
  BOXCAR_CHECK(value.isTensor(), "abs() takes a number or a Tensor, not {}", kindName(value));
  return callOperator("aten::abs", arguments);
}

TypePtr absoluteType(std::span<const TypePtr> arguments) {
  switch (arguments[0]->kind()) {
    case TypeKind::Bool:
    case TypeKind::Int: return Type::integer();
    case TypeKind::Float:
    case TypeKind::Complex: return Type::floating();
    case TypeKind::Scalar: return Type::scalar();
    case TypeKind::Any: return Type::any();
    default: return nullptr;
  }
}

// Rounds to [digits] places, or to an int without them; halves go to the even neighbour.
IValue rounded(std::span<IValue> arguments) {
  const IValue& value = arguments[0];
  if (value.isTensor()) return callOperator("aten::round", arguments);
  BOXCAR_CHECK(value.isInt() || value.isBool() || value.isDouble(), "round() takes an int or a float, not {}",
               kindName(value));
  const bool has_digits = arguments.size() == 2;
  const int64_t digits = has_digits ? arguments[1].toInt() : 0;
  if (value.isDouble()) {
    if (!has_digits) return floatToInt(std::nearbyint(value.toDouble()));
    return roundToDigits(value.toDouble(), digits);
  }
  const int64_t number = value.isInt() ? value.toInt() : value.toBool();
  if (digits >= 0) return number;
  if (digits < -18) return int64_t{0};
  const int64_t unit = powInt(10, -digits);
  const int64_t rest = modInt(number, unit);
  const int64_t below = subInt(number, rest);
  const bool rounds_up = rest > unit / 2 || (rest == unit / 2 && floorDivInt(number, unit) % 2 != 0);
  return rounds_up ? addInt(below, unit) : below;
}

TypePtr roundedType(std::span<const TypePtr> arguments) {
  switch (arguments[0]->kind()) {
    case TypeKind::Bool:
    case TypeKind::Int: return Type::integer();
    case TypeKind::Float: return arguments.size() == 1 ? Type::integer() : Type::floating();
    case TypeKind::Scalar:
    case TypeKind::Any: return arguments[0];
    default: return nullptr;
  }
}

IValue sum(std::span<IValue> arguments) {
  if (arguments[0].isTensor()) return callOperator("aten::sum", arguments);
  IValue total = arguments.size() == 2 ? arguments[1] : arguments[0].isDoubleList() ? IValue(0.0) : IValue(int64_t{0});
  for (const IValue& element : elementsOf(arguments[0])) total = binaryValue(syntax::BinaryOp::Add, total, element);
  return total;
}

TypePtr sumType(std::span<const TypePtr> arguments) {
  const TypePtr element = iteratedType(arguments[0]);
  if (element == nullptr) return nullptr;
  if (arguments.size() > 1 && arguments[1]->kind() != TypeKind::Int) return Type::any();
  switch (element->kind()) {
    case TypeKind::Bool:
    case TypeKind::Int: return Type::integer();
    case TypeKind::Float: return arguments[0]->isList() ? Type::floating() : Type::scalar();
    default: return Type::any();
  }
}

using RealFunction = double (*)(double);

// A string literal as a template argument.
template <size_t n>
struct Name {
  char text[n];
  constexpr Name(const char (&literal)[n]) { std::copy_n(literal, n, text); }
};

// Throws, as Python does, where C returns inf or nan for a number that is in range.
template <Name name, RealFunction function>
IValue mathFunction(std::span<IValue> arguments) {
  const double argument = arguments[0].toDouble();
  const double result = function(argument);
  if (!std::isfinite(result)) [[unlikely]] {
    const bool is_in_domain = std::isnan(result) ? std::isnan(argument) : result > 0 || std::isinf(argument);
    BOXCAR_CHECK(is_in_domain, "math::{}({}): the number is not in the function's domain", name.text, arguments[0]);
    BOXCAR_CHECK(!std::isfinite(argument), "math::{}({}) is too large for a float", name.text, arguments[0]);
  }
  return result;
}

template <Name name, RealFunction function>
IValue mathInteger(std::span<IValue> arguments) {
  const double result = function(arguments[0].toDouble());
  BOXCAR_CHECK(result >= -0x1p63 && result < 0x1p63, "math::{}({}) does not fit an int of 64 bits", name.text,
               arguments[0]);
  return static_cast<int64_t>(result);
}

}  // namespace

void addNumberBuiltins(BuiltinTable& table) {
  addBuiltin(table, "int(Any value) -> int", toIntValue, [](std::span<const TypePtr> arguments) {
    return isReadAsNumber(arguments[0]) ? Type::integer() : nullptr;
  });
  addBuiltin(table, "float(Any value) -> float", toFloatValue, [](std::span<const TypePtr> arguments) {
    return isReadAsNumber(arguments[0]) ? Type::floating() : nullptr;
  });
  addBuiltin(table, "bool(Any value) -> bool",
             [](std::span<IValue> arguments) -> IValue { return truth(arguments[0]); });
  addVariadic(table, "min(Any[] values) -> Any", 1, UINT16_MAX, extreme<-1>, extremeType);
  addVariadic(table, "max(Any[] values) -> Any", 1, UINT16_MAX, extreme<1>, extremeType);
  addBuiltin(table, "abs(Any value) -> Any", absolute, absoluteType);
  addVariadic(table, "round(Any value, int[] digits) -> Any", 0, 1, rounded, roundedType);
  addVariadic(table, "sum(Any values, Any[] start) -> Any", 0, 1, sum, sumType);

  addBuiltin(table, "math::sqrt(float x) -> float", mathFunction<"sqrt", std::sqrt>);
  addBuiltin(table, "math::exp(float x) -> float", mathFunction<"exp", std::exp>);
  addBuiltin(table, "math::log(float x) -> float", mathFunction<"log", std::log>);
  addBuiltin(table, "math::sin(float x) -> float", mathFunction<"sin", std::sin>);
  addBuiltin(table, "math::cos(float x) -> float", mathFunction<"cos", std::cos>);
  addBuiltin(table, "math::tan(float x) -> float", mathFunction<"tan", std::tan>);
  addBuiltin(table, "math::tanh(float x) -> float", mathFunction<"tanh", std::tanh>);
  addBuiltin(table, "math::floor(float x) -> int", mathInteger<"floor", std::floor>);
  addBuiltin(table, "math::ceil(float x) -> int", mathInteger<"ceil", std::ceil>);
}

}  // namespace boxcar::interp
