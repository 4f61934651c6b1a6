#include <boxcar/ivalue/alternatives.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/scalar_type.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace boxcar {

namespace {

struct DtypeNames {
  ScalarType type;
  std::string_view enumerator;
  std::string_view in_python;
  // A second name for programs, as in PyTorch.
  std::string_view alias;
};

constexpr DtypeNames kDtypeNames[] = {
    {ScalarType::Byte, "Byte", "uint8", "byte"},
    {ScalarType::Char, "Char", "int8", "char"},
    {ScalarType::Short, "Short", "int16", "short"},
    {ScalarType::Int, "Int", "int32", "int"},
    {ScalarType::Long, "Long", "int64", "long"},
    {ScalarType::Half, "Half", "float16", "half"},
    {ScalarType::Float, "Float", "float32", "float"},
    {ScalarType::Double, "Double", "float64", "double"},
    {ScalarType::ComplexFloat, "ComplexFloat", "complex64", "cfloat"},
    {ScalarType::ComplexDouble, "ComplexDouble", "complex128", "cdouble"},
    {ScalarType::Bool, "Bool", "bool", "bool"},
    {ScalarType::BFloat16, "BFloat16", "bfloat16", "bfloat16"},
};
constexpr DtypeNames kComplexHalf = {ScalarType::ComplexHalf, "ComplexHalf", "complex32", ""};
constexpr DtypeNames kUndefined = {ScalarType::Undefined, "Undefined", "undefined", ""};

const DtypeNames& namesOf(ScalarType type) {
  for (const DtypeNames& names : kDtypeNames) {
    if (names.type == type) return names;
  }
  return type == ScalarType::ComplexHalf ? kComplexHalf : kUndefined;
}

// bool below integral below floating below complex: the higher category decides.
int categoryOf(ScalarType type) {
  if (isComplexType(type)) return 3;
  if (isFloatingType(type)) return 2;
  return type == ScalarType::Bool ? 0 : 1;
}

ScalarType promoteFloating(ScalarType a, ScalarType b) {
  if (a == b) return a;
  // Neither 16-bit type holds all values of the other.
  if (elementSize(a) == 2 && elementSize(b) == 2) return ScalarType::Float;
  return elementSize(a) > elementSize(b) ? a : b;
}

ScalarType promoteIntegral(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (elementSize(a) == 1 && elementSize(b) == 1) return ScalarType::Short;  // uint8 and int8
  return elementSize(a) > elementSize(b) ? a : b;
}

}  // namespace

std::string_view toString(ScalarType type) { return namesOf(type).enumerator; }

std::string_view dtypeName(ScalarType type) { return namesOf(type).in_python; }

std::optional<ScalarType> parseDtype(std::string_view name) {
  if (name.starts_with("torch.")) name.remove_prefix(6);
  for (const DtypeNames& names : kDtypeNames) {
    if (names.in_python == name || names.alias == name) return names.type;
  }
  return std::nullopt;
}

ScalarType promoteTypes(ScalarType a, ScalarType b) {
  if (a == ScalarType::Undefined || b == ScalarType::Undefined) return ScalarType::Undefined;
  if (a == b) return a;
  const int category_a = categoryOf(a);
  const int category_b = categoryOf(b);
  const int category = std::max(category_a, category_b);
  if (category < 2) return category_a == category_b ? promoteIntegral(a, b) : (category_a > category_b ? a : b);
  // Only floating and complex operands influence the width of the parts.
  ScalarType real = toRealValueType(category_a == category ? a : b);
  const ScalarType other = category_a == category ? b : a;
  if (categoryOf(other) >= 2) real = promoteFloating(real, toRealValueType(other));
  return category == 3 ? toComplexType(real) : real;
}

void detail::failUnsupportedScalarType(std::string_view op, ScalarType type, std::span<const ScalarType> supported) {
  std::vector<std::string_view> names;
  for (const ScalarType each : supported) names.push_back(dtypeName(each));
  BOXCAR_FAIL("{} does not take dtype {}; it takes {}", op, dtypeName(type), alternatives(names));
}

}  // namespace boxcar
