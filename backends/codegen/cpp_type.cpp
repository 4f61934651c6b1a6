#include "backends/codegen/cpp_type.h"

#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace boxcar::codegen {
namespace {

// Returns the type of a stored value: in a list or dict, or as a result.
std::string valueType(TypePtr type) {
  switch (type->kind()) {
    case TypeKind::Tensor: return "Tensor";
    case TypeKind::Bool: return "bool";
    case TypeKind::Int:
    case TypeKind::SymInt:
    case TypeKind::DeviceIndex:
    case TypeKind::QScheme: return "int64_t";
    case TypeKind::Float: return "double";
    case TypeKind::Complex: return "std::complex<double>";
    case TypeKind::Scalar: return "Scalar";
    case TypeKind::String:
    case TypeKind::Dimname: return "std::string";
    case TypeKind::Device: return "Device";
    case TypeKind::ScalarType: return "ScalarType";
    case TypeKind::Layout: return "Layout";
    case TypeKind::MemoryFormat: return "MemoryFormat";
    case TypeKind::Generator: return "Generator";
    case TypeKind::Storage: return "Storage";
    case TypeKind::Stream: return "Stream";
    case TypeKind::Function: return "FunctionPtr";
    case TypeKind::Any: return "IValue";
    case TypeKind::Optional: return fmt::format("std::optional<{}>", valueType(type->element()));
    case TypeKind::List: return fmt::format("List<{}>", valueType(type->element()));
    case TypeKind::Dict:
      return fmt::format("Dict<{}, {}>", valueType(type->contained()[0]), valueType(type->contained()[1]));
    case TypeKind::Tuple: {
      std::vector<std::string> elements;
      for (const TypePtr element : type->contained()) elements.push_back(valueType(element));
      return fmt::format("std::tuple<{}>", fmt::join(elements, ", "));
    }
    default: BOXCAR_FAIL("there is no C++ type for schema type {}", *type);
  }
}

bool hasTypedStorage(TypePtr element) {
  const std::string type = valueType(element);
  return type == "int64_t" || type == "double" || type == "bool" || type == "std::complex<double>" || type == "Tensor";
}

std::string argumentType(TypePtr type, bool written, bool for_caller) {
  switch (type->kind()) {
    case TypeKind::Tensor: return written ? "Tensor&" : "const Tensor&";
    case TypeKind::Scalar: return "const Scalar&";
    case TypeKind::String:
    case TypeKind::Dimname: return "std::string_view";
    case TypeKind::Any: return "const IValue&";
    case TypeKind::Function: return "const FunctionPtr&";
    case TypeKind::Dict:
    case TypeKind::Tuple: return fmt::format("const {}&", valueType(type));
    case TypeKind::List: {
      if (!hasTypedStorage(type->element())) return fmt::format("const {}&", valueType(type));
      const std::string element = valueType(type->element());
      if (element == "Tensor") return for_caller ? "ArrayRef<Tensor>" : "TensorList";
      if (for_caller) return element == "int64_t" ? "IntArrayRef" : fmt::format("ArrayRef<{}>", element);
      return fmt::format("std::span<const {}>", element);
    }
    case TypeKind::Optional: {
      const TypeKind kind = type->element()->kind();
      if (kind == TypeKind::Tensor || kind == TypeKind::Scalar) {
        return fmt::format("const std::optional<{}>&", valueType(type->element()));
      }
      const std::string element = argumentType(type->element(), false, for_caller);
      // An optional holds no references.
      if (element.ends_with('&')) return fmt::format("const std::optional<{}>&", valueType(type->element()));
      return fmt::format("std::optional<{}>", element);
    }
    default: return valueType(type);
  }
}

std::string singleResult(const Argument& result) {
  if (result.type()->kind() == TypeKind::Tensor && result.is_write()) return "Tensor&";
  if (result.type()->isList()) return fmt::format("std::vector<{}>", valueType(result.type()->element()));
  return valueType(result.type());
}

std::string enumExpression(TypePtr type, const IValue& value) {
  return fmt::format("static_cast<{}>({})", valueType(type), value.toInt());
}

}  // namespace

std::string kernelArgumentType(const Argument& argument) {
  return argumentType(argument.type(), argument.is_write(), false);
}

std::string callerArgumentType(const Argument& argument) {
  return argumentType(argument.type(), argument.is_write(), true);
}

std::string resultType(const FunctionSchema& schema) {
  const auto& returns = schema.returns();
  if (returns.empty()) return "void";
  if (returns.size() == 1) return singleResult(returns[0]);
  std::vector<std::string> types;
  for (const Argument& result : returns) types.push_back(singleResult(result));
  return fmt::format("std::tuple<{}>", fmt::join(types, ", "));
}

namespace {

// `{1, 1}`: it lives as long as the call whose default it is.
std::optional<std::string> listExpression(const IValue& value) {
  if (value.length() == 0) return "{}";
  if (!value.isIntList()) return std::nullopt;
  const List<int64_t> elements = value.toIntList();
  return fmt::format("{{{}}}", fmt::join(elements.begin(), elements.end(), ", "));
}

}  // namespace

std::optional<std::string> defaultExpression(const Argument& argument) {
  if (!argument.default_value().has_value()) return std::nullopt;
  const IValue& value = *argument.default_value();
  if (value.isNone()) return "std::nullopt";
  TypePtr type = argument.type();
  if (type->isOptional()) type = type->element();
  switch (type->kind()) {
    case TypeKind::ScalarType:
    case TypeKind::Layout:
    case TypeKind::MemoryFormat: return enumExpression(type, value);
    case TypeKind::Device: return fmt::format("Device(\"{}\")", toString(value.toDevice()));
    case TypeKind::List: return listExpression(value);
    default: break;
  }
  switch (value.tag()) {
    case IValue::Tag::Bool: return value.toBool() ? "true" : "false";
    case IValue::Tag::Int: return fmt::format("{}", value.toInt());
    case IValue::Tag::Double:
      if (std::isinf(value.toDouble())) return value.toDouble() < 0 ? "-HUGE_VAL" : "HUGE_VAL";
      return fmt::format("{}", pythonFloat(value.toDouble()));
    case IValue::Tag::String: return fmt::format("\"{}\"", value.toStringRef());
    default: return std::nullopt;
  }
}

}  // namespace boxcar::codegen
