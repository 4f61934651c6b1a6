#include <boxcar/schema/words.h>

namespace boxcar::detail {
namespace {

TypePtr longBaseTypeNamed(std::string_view word) {
  if (word == "ScalarType") return Type::scalarType();
  if (word == "Generator") return Type::generator();
  if (word == "MemoryFormat") return Type::memoryFormat();
  for (const TypeKind kind : {TypeKind::DeviceIndex, TypeKind::Quantizer, TypeKind::ConstQuantizerPtr,
                              TypeKind::AnyClass, TypeKind::AnyEnum}) {
    if (word == Type::of(kind)->text()) return Type::of(kind);
  }
  return nullptr;
}

}  // namespace

TypePtr baseTypeNamed(std::string_view word) {
  switch (packed(word)) {
    case 0: return longBaseTypeNamed(word);
    case packed("Tensor"): return Type::tensor();
    case packed("int"): return Type::integer();
    case packed("SymInt"): return Type::symInt();
    case packed("bool"):
    case packed("SymBool"): return Type::boolean();
    case packed("float"): return Type::floating();
    case packed("complex"): return Type::complex();
    case packed("Scalar"):
    case packed("number"): return Type::scalar();
    case packed("str"): return Type::string();
    case packed("Device"): return Type::device();
    case packed("Layout"): return Type::layout();
    case packed("Dimname"): return Type::of(TypeKind::Dimname);
    case packed("Storage"): return Type::storage();
    case packed("Stream"): return Type::stream();
    case packed("QScheme"): return Type::of(TypeKind::QScheme);
    case packed("Capsule"): return Type::capsule();
    case packed("Function"): return Type::function();
    case packed("Any"): return Type::any();
    case packed("None"):
    case packed("NoneType"): return Type::none();
    default: return nullptr;
  }
}

std::span<const std::string_view> typeNames() {
  static constexpr std::string_view names[] = {
      "Tensor",       "int",         "SymInt",       "bool",        "float",     "complex",
      "Scalar",       "str",         "Device",       "Layout",      "Dimname",   "Storage",
      "Stream",       "QScheme",     "Capsule",      "Function",    "Any",       "None",
      "ScalarType",   "Generator",   "MemoryFormat", "DeviceIndex", "Quantizer", "ConstQuantizerPtr",
      "AnyClassType", "AnyEnumType", "Dict",         "Future",      "Await",     "RRef",
      "Union"};
  return names;
}

}  // namespace boxcar::detail
