#include <boxcar/schema/function_object.h>
#include <boxcar/schema/value_type.h>
#include <boxcar/schema/words.h>

#include <algorithm>
#include <vector>

namespace boxcar {
namespace {

bool listMatches(const IValue& value, TypePtr element) {
  switch (element->underlying()->kind()) {
    case TypeKind::Int: return value.isIntList();
    case TypeKind::Float: return value.isDoubleList();
    case TypeKind::Bool: return value.isBoolList();
    case TypeKind::Complex: return value.isComplexDoubleList();
    case TypeKind::Tensor: return value.isTensorList();
    case TypeKind::Any:
    case TypeKind::Variable: return value.isList();
    default: break;
  }
  if (!value.isGenericList()) return false;
  for (std::size_t i = 0; i < value.length(); ++i) {
    if (!matches(value.elementAt(i), element)) return false;
  }
  return true;
}

bool tupleMatches(const IValue& value, std::span<const TypePtr> types) {
  if (!value.isTuple()) return false;
  const Tuple tuple = value.toTuple();
  return std::ranges::equal(tuple.elements(), types, matches);
}

bool dictMatches(const IValue& value, TypePtr key, TypePtr mapped) {
  if (!value.isGenericDict()) return false;
  const GenericDict dict = value.toGenericDict();
  for (std::size_t i = 0; i < dict.size(); ++i) {
    if (!matches(dict.object()->keyAt(i), key) || !matches(dict.object()->valueAt(i), mapped)) return false;
  }
  return true;
}

bool classMatches(const IValue& value, TypePtr type) {
  if (!value.isObject()) return false;
  const void* const identity = value.toObject()->classIdentity();
  if (identity != nullptr || type->identity() != nullptr) return identity == type->identity();
  return value.toObject()->className() == type->text();
}

}  // namespace

bool matches(const IValue& value, TypePtr type) {
  switch (type->kind()) {
    case TypeKind::Any:
    case TypeKind::Variable: return true;
    case TypeKind::Tensor: return value.isTensor();
    case TypeKind::None: return value.isNone();
    case TypeKind::Bool: return value.isBool();
    case TypeKind::Int:
    case TypeKind::SymInt:
    case TypeKind::DeviceIndex:
    case TypeKind::ScalarType:
    case TypeKind::Layout:
    case TypeKind::MemoryFormat:
    case TypeKind::QScheme:
    case TypeKind::ConstQuantizerPtr: return value.isInt();
    case TypeKind::Float: return value.isDouble();
    case TypeKind::Complex: return value.isComplexDouble();
    case TypeKind::Scalar: return value.isScalar();
    case TypeKind::String:
    case TypeKind::Dimname: return value.isString();
    case TypeKind::Device: return value.isDevice();
    case TypeKind::Generator: return value.isGenerator();
    case TypeKind::Storage: return value.isStorage();
    case TypeKind::Stream: return value.isStream();
    case TypeKind::Quantizer:
    case TypeKind::Capsule:
    case TypeKind::AnyClass:
    case TypeKind::AnyEnum:
    case TypeKind::Future:
    case TypeKind::Await:
    case TypeKind::RRef: return value.isObject();
    case TypeKind::Function: return functionIn(value) != nullptr;
    case TypeKind::Class: return classMatches(value, type);
    case TypeKind::Optional: return value.isNone() || matches(value, type->element());
    case TypeKind::List: return listMatches(value, type->element());
    case TypeKind::Tuple: return tupleMatches(value, type->contained());
    case TypeKind::Dict: return dictMatches(value, type->contained()[0], type->contained()[1]);
    case TypeKind::Union:
      return std::ranges::any_of(type->contained(), [&value](TypePtr member) { return matches(value, member); });
  }
  return false;
}

namespace {

// Finds types without going deeper than a type can, and looks at a limited number of elements: a list may contain
// itself.
class TypeFinder {
 public:
  TypePtr find(const IValue& value, int depth) {
    if (budget_ == 0 || 2 * depth + 4 > Type::kMaxDepth) return Type::any();
    --budget_;
    switch (value.tag()) {
      case IValue::Tag::None: return Type::none();
      case IValue::Tag::Bool: return Type::boolean();
      case IValue::Tag::Int: return Type::integer();
      case IValue::Tag::Double: return Type::floating();
      case IValue::Tag::Device: return Type::device();
      case IValue::Tag::Stream: return Type::stream();
      case IValue::Tag::Tensor: return Type::tensor();
      case IValue::Tag::String: return Type::string();
      case IValue::Tag::ComplexDouble: return Type::complex();
      case IValue::Tag::IntList: return Type::listOf(Type::integer());
      case IValue::Tag::DoubleList: return Type::listOf(Type::floating());
      case IValue::Tag::BoolList: return Type::listOf(Type::boolean());
      case IValue::Tag::ComplexDoubleList: return Type::listOf(Type::complex());
      case IValue::Tag::TensorList: return Type::listOf(Type::tensor());
      case IValue::Tag::Generator: return Type::generator();
      case IValue::Tag::Storage: return Type::storage();
      case IValue::Tag::Object: return classOf(value);
      case IValue::Tag::Future:
      case IValue::Tag::Enum: return Type::any();
      case IValue::Tag::GenericList: {
        const GenericList list = value.toList();
        return Type::listOf(findCommon(list.size(), depth, [&list](std::size_t i) { return list.get(i); }));
      }
      case IValue::Tag::Tuple: {
        std::vector<TypePtr> types;
        for (const IValue& element : value.toTuple().elements()) types.push_back(find(element, depth + 1));
        return Type::tupleOf(types);
      }
      case IValue::Tag::GenericDict: {
        const GenericDict dict = value.toGenericDict();
        const auto keyAt = [&dict](std::size_t i) { return dict.object()->keyAt(i); };
        const auto valueAt = [&dict](std::size_t i) { return dict.object()->valueAt(i); };
        return Type::dictOf(findCommon(dict.size(), depth, keyAt), findCommon(dict.size(), depth, valueAt));
      }
    }
    return Type::any();
  }

 private:
  static TypePtr classOf(const IValue& value) {
    if (functionIn(value) != nullptr) return Type::function();
    const std::string name = value.toObject()->className();
    if (const void* const identity = value.toObject()->classIdentity()) return Type::classOf(name, identity);
    return detail::isClassName(name) ? Type::classNamed(name) : Type::capsule();
  }

  static TypePtr common(TypePtr a, TypePtr b) {
    if (isSubtypeOf(a, b)) return b;
    if (isSubtypeOf(b, a)) return a;
    if (a->kind() == TypeKind::None) return Type::optionalOf(b);
    if (b->kind() == TypeKind::None) return Type::optionalOf(a);
    return Type::any();
  }

  TypePtr findCommon(std::size_t count, int depth, auto&& valueAt) {
    TypePtr type = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
      const TypePtr next = find(valueAt(i), depth + 1);
      type = type == nullptr ? next : common(type, next);
      if (type == Type::any()) break;
    }
    return type == nullptr ? Type::any() : type;
  }

  std::size_t budget_ = 1'000'000;
};

}  // namespace

TypePtr typeOf(const IValue& value) { return TypeFinder().find(value, 0); }

}  // namespace boxcar
