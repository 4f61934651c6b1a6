// int, float, bool, min, max, abs, round, sum, divmod.

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

// The quotient, rounded down, and the rest.
IValue divmod(std::span<IValue> arguments) {
  return Tuple(std::vector<IValue>{binaryValue(syntax::BinaryOp::FloorDivide, arguments[0], arguments[1]),
                                   binaryValue(syntax::BinaryOp::Remainder, arguments[0], arguments[1])});
}

TypePtr divmodType(std::span<const TypePtr> arguments) {
  if (!isNumberType(arguments[0]) || !isNumberType(arguments[1])) return nullptr;
  const auto is = [&](TypeKind kind) { return arguments[0]->kind() == kind || arguments[1]->kind() == kind; };
  const TypePtr type = is(TypeKind::Scalar) ? Type::scalar() : is(TypeKind::Float) ? Type::floating() : Type::integer();
  const TypePtr both[] = {type, type};
  return Type::tupleOf(both);
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
  addBuiltin(table, "divmod(Any dividend, Any divisor) -> Any", divmod, divmodType);
  addVariadic(table, "sum(Any values, Any[] start) -> Any", 0, 1, sum, sumType);
}

}  // namespace boxcar::interp
