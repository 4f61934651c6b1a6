#include <boxcar/ivalue/error.h>
#include <boxcar/schema/type.h>
#include <boxcar/schema/words.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <unordered_map>

namespace boxcar {

// The owner of all types. Those without parameters are in an array in the order of TypeKind; composed ones are looked
// up by their text, and told apart by what they contain, for classes of one name may differ in their identity.
class TypeTable {
 public:
  static TypePtr base(TypeKind kind) noexcept { return &base_[static_cast<std::size_t>(kind)]; }
  static constexpr std::size_t kBaseCount = static_cast<std::size_t>(TypeKind::AnyEnum) + 1;

  static TypePtr intern(TypeKind kind, std::string text, std::span<const TypePtr> contained,
                        const void* identity = nullptr) {
    static TypeTable* const table = new TypeTable;  // outlives every static object that holds a type
    const std::lock_guard lock(table->mutex_);
    for (auto [each, end] = table->types_.equal_range(text); each != end; ++each) {
      const TypePtr found = each->second;
      if (found->identity_ == identity && std::ranges::equal(found->contained(), contained)) return found;
    }

    int depth = 1;
    bool has_variables = kind == TypeKind::Variable;
    for (const TypePtr type : contained) {
      depth = std::max(depth, type->depth() + 1);
      has_variables = has_variables || type->hasVariables();
    }
    BOXCAR_CHECK(depth <= Type::kMaxDepth, "a type cannot be nested deeper than {} types", Type::kMaxDepth);
    char* const kept_text = new char[text.size()];
    std::copy(text.begin(), text.end(), kept_text);
    TypePtr* const kept_contained = new TypePtr[contained.size()];
    std::copy(contained.begin(), contained.end(), kept_contained);

    auto* const type = new Type(kind, {kept_text, text.size()});
    type->contained_ = kept_contained;
    type->contained_count_ = static_cast<std::uint32_t>(contained.size());
    type->depth_ = static_cast<std::uint8_t>(depth);
    type->has_variables_ = has_variables;
    type->identity_ = identity;
    table->types_.emplace(type->text(), type);
    return type;
  }

  // Returns a type around one other, which caches it in [slot] so that the next look-up is one load.
  static TypePtr wrap(TypeKind kind, TypePtr element, std::string_view suffix, std::atomic<TypePtr>& slot) {
    TypePtr type = slot.load(std::memory_order_acquire);
    if (type == nullptr) {
      type = intern(kind, std::string(element->text()).append(suffix), {&element, 1});
      slot.store(type, std::memory_order_release);
    }
    return type;
  }
  static std::atomic<TypePtr>& listSlot(TypePtr type) noexcept { return type->list_; }
  static std::atomic<TypePtr>& optionalSlot(TypePtr type) noexcept { return type->optional_; }

 private:
  static constinit const Type base_[kBaseCount];

  std::mutex mutex_;
  std::unordered_multimap<std::string_view, TypePtr> types_;
};

constinit const Type TypeTable::base_[] = {
    {TypeKind::Tensor, "Tensor"},
    {TypeKind::None, "NoneType"},
    {TypeKind::Bool, "bool"},
    {TypeKind::Int, "int"},
    {TypeKind::SymInt, "SymInt"},
    {TypeKind::Float, "float"},
    {TypeKind::Complex, "complex"},
    {TypeKind::Scalar, "Scalar"},
    {TypeKind::String, "str"},
    {TypeKind::Device, "Device"},
    {TypeKind::DeviceIndex, "DeviceIndex"},
    {TypeKind::Dimname, "Dimname"},
    {TypeKind::ScalarType, "ScalarType"},
    {TypeKind::Layout, "Layout"},
    {TypeKind::MemoryFormat, "MemoryFormat"},
    {TypeKind::Generator, "Generator"},
    {TypeKind::Storage, "Storage"},
    {TypeKind::Stream, "Stream"},
    {TypeKind::QScheme, "QScheme"},
    {TypeKind::Quantizer, "Quantizer"},
    {TypeKind::ConstQuantizerPtr, "ConstQuantizerPtr"},
    {TypeKind::Capsule, "Capsule"},
    {TypeKind::Function, "Function"},
    {TypeKind::Any, "Any"},
    {TypeKind::AnyClass, "AnyClassType"},
    {TypeKind::AnyEnum, "AnyEnumType"},
};

namespace {

std::string joined(std::string_view open, std::span<const TypePtr> types) {
  std::string text(open);
  text += '(';
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (i != 0) text += ", ";
    text += types[i]->text();
  }
  text += ')';
  return text;
}

TypePtr around(TypeKind kind, std::string_view name, TypePtr element) {
  const TypePtr elements[] = {element};
  return TypeTable::intern(kind, joined(name, elements), elements);
}

}  // namespace

TypePtr Type::tensor() noexcept { return TypeTable::base(TypeKind::Tensor); }
TypePtr Type::none() noexcept { return TypeTable::base(TypeKind::None); }
TypePtr Type::boolean() noexcept { return TypeTable::base(TypeKind::Bool); }
TypePtr Type::integer() noexcept { return TypeTable::base(TypeKind::Int); }
TypePtr Type::symInt() noexcept { return TypeTable::base(TypeKind::SymInt); }
TypePtr Type::floating() noexcept { return TypeTable::base(TypeKind::Float); }
TypePtr Type::complex() noexcept { return TypeTable::base(TypeKind::Complex); }
TypePtr Type::scalar() noexcept { return TypeTable::base(TypeKind::Scalar); }
TypePtr Type::string() noexcept { return TypeTable::base(TypeKind::String); }
TypePtr Type::device() noexcept { return TypeTable::base(TypeKind::Device); }
TypePtr Type::scalarType() noexcept { return TypeTable::base(TypeKind::ScalarType); }
TypePtr Type::layout() noexcept { return TypeTable::base(TypeKind::Layout); }
TypePtr Type::memoryFormat() noexcept { return TypeTable::base(TypeKind::MemoryFormat); }
TypePtr Type::generator() noexcept { return TypeTable::base(TypeKind::Generator); }
TypePtr Type::storage() noexcept { return TypeTable::base(TypeKind::Storage); }
TypePtr Type::stream() noexcept { return TypeTable::base(TypeKind::Stream); }
TypePtr Type::capsule() noexcept { return TypeTable::base(TypeKind::Capsule); }
TypePtr Type::function() noexcept { return TypeTable::base(TypeKind::Function); }
TypePtr Type::any() noexcept { return TypeTable::base(TypeKind::Any); }

TypePtr Type::of(TypeKind kind) {
  BOXCAR_CHECK(static_cast<std::size_t>(kind) < TypeTable::kBaseCount,
               "this kind of type has parameters: make it with Type::listOf and its like");
  return TypeTable::base(kind);
}

TypePtr Type::listOf(TypePtr element) {
  return TypeTable::wrap(TypeKind::List, element, "[]", TypeTable::listSlot(element));
}

TypePtr Type::optionalOf(TypePtr element) {
  if (element->isOptional() || element->kind() == TypeKind::None) return element;
  return TypeTable::wrap(TypeKind::Optional, element, "?", TypeTable::optionalSlot(element));
}

TypePtr Type::tupleOf(std::span<const TypePtr> elements) {
  return TypeTable::intern(TypeKind::Tuple, joined("", elements), elements);
}

TypePtr Type::dictOf(TypePtr key, TypePtr value) {
  const TypePtr elements[] = {key, value};
  return TypeTable::intern(TypeKind::Dict, joined("Dict", elements), elements);
}

TypePtr Type::futureOf(TypePtr element) { return around(TypeKind::Future, "Future", element); }
TypePtr Type::awaitOf(TypePtr element) { return around(TypeKind::Await, "Await", element); }
TypePtr Type::rrefOf(TypePtr element) { return around(TypeKind::RRef, "RRef", element); }

TypePtr Type::unionOf(std::span<const TypePtr> members) {
  BOXCAR_CHECK(!members.empty(), "a union has at least one member");
  return TypeTable::intern(TypeKind::Union, joined("Union", members), members);
}

TypePtr Type::classNamed(std::string_view qualified_name) {
  BOXCAR_CHECK(detail::isClassName(qualified_name),
               "class {} is not of the form __torch__.torch.classes.namespace.Name", qualified_name);
  return TypeTable::intern(TypeKind::Class, std::string(qualified_name), {});
}

TypePtr Type::classOf(std::string_view name, const void* identity) {
  BOXCAR_INTERNAL_ASSERT(identity != nullptr);
  return TypeTable::intern(TypeKind::Class, std::string(name), {}, identity);
}

TypePtr Type::variable(std::string_view name) {
  const bool is_variable =
      detail::isName(name) && name.front() >= 'a' && name.front() <= 'z' && detail::baseTypeNamed(name) == nullptr;
  BOXCAR_CHECK(
      is_variable,
      "'{}' cannot name a type variable: use a word that begins with a lowercase letter and is not the name of a type",
      name);
  return TypeTable::intern(TypeKind::Variable, std::string(name), {});
}

TypePtr Type::underlying() const noexcept {
  switch (kind_) {
    case TypeKind::SymInt:
    case TypeKind::DeviceIndex:
    case TypeKind::ScalarType:
    case TypeKind::Layout:
    case TypeKind::MemoryFormat:
    case TypeKind::QScheme:
    case TypeKind::ConstQuantizerPtr: return integer();
    case TypeKind::Dimname: return string();
    default: return this;
  }
}

bool isSubtypeOf(TypePtr type, TypePtr super) noexcept {
  if (type == super || super->kind() == TypeKind::Any) return true;
  const auto isWithinSuper = [super](TypePtr member) { return isSubtypeOf(member, super); };
  const auto holdsType = [type](TypePtr member) { return isSubtypeOf(type, member); };
  if (type->kind() == TypeKind::Union) return std::ranges::all_of(type->contained(), isWithinSuper);
  if (super->kind() == TypeKind::Union) return std::ranges::any_of(super->contained(), holdsType);
  if (super->isOptional()) {
    if (type->kind() == TypeKind::None) return true;
    return isSubtypeOf(type->isOptional() ? type->element() : type, super->element());
  }
  switch (super->kind()) {
    case TypeKind::Int:
    case TypeKind::String: return type->underlying() == super && type->kind() != TypeKind::SymInt;
    case TypeKind::SymInt: return type->underlying() == Type::integer();
    case TypeKind::Scalar:
      return type->kind() == TypeKind::Bool || type->kind() == TypeKind::Float || type->kind() == TypeKind::Complex ||
             type->underlying() == Type::integer();
    case TypeKind::AnyClass: return type->kind() == TypeKind::Class;
    case TypeKind::Tuple:
    case TypeKind::Future:
    case TypeKind::Await:
    case TypeKind::RRef:
      return type->kind() == super->kind() && std::ranges::equal(type->contained(), super->contained(), isSubtypeOf);
    default: return false;
  }
}

}  // namespace boxcar
