#include <boxcar/interpreter/bytecode/struct_layout.h>
#include <boxcar/interpreter/runtime/conversion.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/schema/value_type.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace boxcar::interp {
namespace {

using Cost = std::optional<ConversionCost>;

Cost dearest(Cost a, Cost b) {
  if (!a || !b) return std::nullopt;
  return std::max(*a, *b);
}

bool isNumber(TypePtr type) {
  switch (type->kind()) {
    case TypeKind::Bool:
    case TypeKind::Int:
    case TypeKind::SymInt:
    case TypeKind::Float:
    case TypeKind::Complex:
    case TypeKind::Scalar: return true;
    default: return false;
  }
}

bool isInteger(TypePtr type) { return type->kind() == TypeKind::Int || type->kind() == TypeKind::SymInt; }

// Types whose values are stored as ints, so that a value does not tell its type.
bool isNamedInteger(TypePtr type) { return type->underlying() == Type::integer() && !isInteger(type); }

Cost costToList(TypePtr from, ConversionTarget target, ConversionContext context) {
  const TypePtr element = target.type->element();
  if (isNumber(from)) {
    if (target.list_size == 0 || !isInteger(element)) return std::nullopt;
    if (isInteger(from)) return ConversionCost::IntToList;
    return from->kind() == TypeKind::Bool
               ? Cost(ConversionCost::IntToList)
               : dearest(ConversionCost::IntToList, conversionCost(from, {element}, context));
  }
  if (from->isList()) {
    const TypePtr of = from->element();
    if (of->kind() == TypeKind::Any) return ConversionCost::CheckedList;
    if (of->kind() == TypeKind::Int && element->kind() == TypeKind::Float) return ConversionCost::ToFloatList;
    if (of->kind() == TypeKind::Tensor || !isNumber(of)) return conversionCost(of, {element}, {false, context.types});
    const Cost cost = conversionCost(of, {element}, {false, context.types});
    // Ints and bools in a list are not converted to float one by one.
    return cost == ConversionCost::Widening ? Cost(ConversionCost::ToFloatList) : cost;
  }
  if (from->kind() == TypeKind::Tuple) {
    Cost cost = ConversionCost::CheckedList;
    for (const TypePtr of : from->contained()) {
      cost = dearest(cost, conversionCost(of, {element}, {false, context.types}));
    }
    return cost == ConversionCost::FromAny ? Cost(ConversionCost::CheckedList) : cost;
  }
  return std::nullopt;
}

Cost costToNumber(TypePtr from, TypePtr to, ConversionContext context) {
  switch (to->kind()) {
    case TypeKind::SymInt:
    case TypeKind::Int:
      if (isInteger(from)) return ConversionCost::ToSymInt;
      if (isNamedInteger(from)) return ConversionCost::ToSymInt;
      if (from->kind() == TypeKind::Bool) return ConversionCost::Widening;
      break;
    case TypeKind::Float:
      if (from->kind() == TypeKind::Bool || isInteger(from)) return ConversionCost::Widening;
      break;
    default:
      if (isNamedInteger(to) && context.types == TypesFrom::kValues && isInteger(from)) return ConversionCost::ToSymInt;
      return std::nullopt;
  }
  if (from->kind() == TypeKind::Scalar) return ConversionCost::FromScalar;
  return std::nullopt;
}

Cost costToTuple(TypePtr from, TypePtr to, ConversionContext context) {
  if (from->kind() != TypeKind::Tuple || from->contained().size() != to->contained().size()) return std::nullopt;
  Cost cost = ConversionCost::Same;
  for (size_t i = 0; i < from->contained().size(); ++i) {
    cost = dearest(cost, conversionCost(from->contained()[i], {to->contained()[i]}, {false, context.types}));
  }
  return cost;
}

// Dicts are passed as they are: entries of type Any are checked at run time.
Cost costToDict(TypePtr from, TypePtr to) {
  if (from->kind() != TypeKind::Dict) return std::nullopt;
  Cost cost = ConversionCost::Same;
  for (size_t i = 0; i < 2; ++i) {
    const TypePtr part = from->contained()[i];
    const TypePtr wanted = to->contained()[i];
    if (part == wanted) continue;
    if (part->kind() == TypeKind::Any) {
      cost = dearest(cost, ConversionCost::CheckedList);
    } else if (wanted->kind() == TypeKind::Any) {
      cost = dearest(cost, ConversionCost::ToOptional);
    } else {
      return std::nullopt;
    }
  }
  return cost;
}

}  // namespace

std::optional<ConversionCost> conversionCost(TypePtr from, ConversionTarget target, ConversionContext context) {
  const TypePtr to = target.type;
  if (from == to) return ConversionCost::Same;
  if (to->kind() == TypeKind::Any || to->kind() == TypeKind::Variable) return ConversionCost::ToOptional;
  if (from->kind() == TypeKind::Any) {
    return context.types != TypesFrom::kProgram ? Cost(std::nullopt) : ConversionCost::FromAny;
  }
  switch (to->kind()) {
    case TypeKind::Optional: {
      if (from->kind() == TypeKind::None) return ConversionCost::ToOptional;
      const TypePtr inner = from->isOptional() ? from->element() : from;
      return dearest(ConversionCost::ToOptional, conversionCost(inner, {to->element(), target.list_size}, context));
    }
    case TypeKind::List: return costToList(from, target, context);
    case TypeKind::Tuple: return costToTuple(from, to, context);
    case TypeKind::Dict: return costToDict(from, to);
    case TypeKind::Scalar: return isNumber(from) ? Cost(ConversionCost::ToScalar) : std::nullopt;
    case TypeKind::Device: return from->kind() == TypeKind::String ? Cost(ConversionCost::ToDevice) : std::nullopt;
    case TypeKind::Tensor:
      return isNumber(from) && context.beside_tensor ? Cost(ConversionCost::NumberToTensor) : std::nullopt;
    default: break;
  }
  if (const Cost cost = costToNumber(from, to, context)) return cost;
  return isSubtypeOf(from, to) ? Cost(ConversionCost::ToOptional) : std::nullopt;
}

bool isSameRepresentation(TypePtr from, TypePtr to) {
  if (from == to || to->kind() == TypeKind::Any || to->kind() == TypeKind::Variable) return true;
  if (from->underlying() == Type::integer() && to->underlying() == Type::integer()) return true;
  if (to->kind() == TypeKind::Scalar) return isNumber(from);
  if (to->isOptional()) {
    if (from->kind() == TypeKind::None) return true;
    return isSameRepresentation(from->isOptional() ? from->element() : from, to->element());
  }
  if (from->isList() && to->isList()) {
    const auto isTyped = [](TypePtr element) {
      return (isNumber(element) && element->kind() != TypeKind::Scalar) || element->kind() == TypeKind::Tensor;
    };
    return isTyped(from->element()) == isTyped(to->element()) && isSameRepresentation(from->element(), to->element());
  }
  if (from->kind() == TypeKind::Tuple && to->kind() == TypeKind::Tuple) {
    return std::ranges::equal(from->contained(), to->contained(), isSameRepresentation);
  }
  return false;
}

Tensor wrappedNumber(const IValue& number) {
  const Scalar scalar = number.toScalar();
  Tensor tensor = Tensor::allocate({}, scalar.type());
  if (scalar.isBoolean()) {
    *tensor.mutable_data_ptr<bool>() = scalar.toBool();
  } else if (scalar.isIntegral(false)) {
    *tensor.mutable_data_ptr<int64_t>() = scalar.toLong();
  } else if (scalar.isFloatingPoint()) {
    *tensor.mutable_data_ptr<double>() = scalar.toDouble();
  } else {
    *tensor.mutable_data_ptr<std::complex<double>>() = scalar.toComplexDouble();
  }
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

namespace {

[[noreturn]] void failConversion(const IValue& value, TypePtr to) {
  const bool is_cut = to->kind() == TypeKind::Int && value.isDouble();
  const TypePtr found = typeOf(value);
  BOXCAR_FAIL("expected {}, found {}{}{}", *to, *found, is_cut ? "; int(…) makes an int of it" : "",
              namesakeNote(to, found));
}

// Converts a list of any kind, or a tuple, to the list type [to], element by element.
IValue convertList(const IValue& value, TypePtr to) {
  const TypePtr element = to->element();
  const auto fill = [&]<class T>(const List<T>& list) {
    list.reserve(value.length());
    for (size_t i = 0; i < value.length(); ++i) {
      try {
        list.push_back(convertValue(value.elementAt(i), {element}).template to<T>());
      } catch (Error& error) {
        error.addContext(fmt::format("in element {} of {}", i, *typeOf(value)));
        throw;
      }
    }
    return IValue(list);
  };
  switch (element->underlying()->kind()) {
    case TypeKind::Int: return fill(List<int64_t>());
    case TypeKind::Float: return fill(List<double>());
    case TypeKind::Bool: return fill(List<bool>());
    case TypeKind::Complex: return fill(List<std::complex<double>>());
    case TypeKind::Tensor: return fill(List<Tensor>());
    default: return fill(List<IValue>());
  }
}

}  // namespace

IValue convertValue(IValue value, ConversionTarget target) {
  const TypePtr to = target.type;
  switch (to->kind()) {
    case TypeKind::Any:
    case TypeKind::Variable: return value;
    case TypeKind::Optional:
      if (value.isNone()) return value;
      return convertValue(std::move(value), {to->element(), target.list_size, target.beside_tensor});
    case TypeKind::Tensor:
      if (value.isTensor()) return value;
      if (value.isScalar() && target.beside_tensor) return wrappedNumber(value);
      break;
    case TypeKind::Float:
      if (value.isDouble()) return value;
      if (value.isInt()) return static_cast<double>(value.toInt());
      if (value.isBool()) return value.toBool() ? 1.0 : 0.0;
      break;
    case TypeKind::Int:
    case TypeKind::SymInt:
      if (value.isInt()) return value;
      if (value.isBool()) return int64_t{value.toBool()};
      break;
    case TypeKind::Device:
      if (value.isString()) return Device(value.toStringView());
      break;
    case TypeKind::List:
      if (matches(value, to)) return value;
      if (value.isList() || value.isTuple()) return convertList(value, to);
      if (target.list_size > 0 && (value.isInt() || value.isBool()) && isInteger(to->element())) {
        const int64_t number = value.isInt() ? value.toInt() : int64_t{value.toBool()};
        return std::vector<int64_t>(static_cast<size_t>(target.list_size), number);
      }
      break;
    case TypeKind::Tuple:
      if (value.isTuple() && value.length() == to->contained().size()) {
        std::vector<IValue> elements;
        for (size_t i = 0; i < value.length(); ++i) {
          elements.push_back(convertValue(value.elementAt(i), {to->contained()[i]}));
        }
        return Tuple(std::move(elements));
      }
      break;
    default: break;
  }
  if (!matches(value, to)) failConversion(value, to);
  return value;
}

}  // namespace boxcar::interp
