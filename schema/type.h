#pragma once

#include <boxcar/ivalue/macros.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

namespace boxcar {

// The kinds of schema types. Those up to AnyEnum have no parameters: there is one Type of each.
enum class TypeKind : std::uint8_t {
  Tensor,
  None,
  Bool,
  Int,
  SymInt,
  Float,
  Complex,
  Scalar,
  String,
  Device,
  DeviceIndex,
  Dimname,
  ScalarType,
  Layout,
  MemoryFormat,
  Generator,
  Storage,
  Stream,
  QScheme,
  Quantizer,
  ConstQuantizerPtr,
  Capsule,
  Function,
  Any,
  AnyClass,
  AnyEnum,
  List,
  Optional,
  Tuple,
  Dict,
  Future,
  Await,
  RRef,
  Union,
  Class,
  Variable,
};

class Type;

// Types are made once and never freed: two types are equal exactly if the pointers are.
using TypePtr = const Type*;

// The type of an argument or a result, as a schema writes it. Immutable; passing one on copies nothing.
//   Type::listOf(Type::optionalOf(Type::tensor())) == parseType("Tensor?[]")
class BOXCAR_API Type {
 public:
  static TypePtr tensor() noexcept;
  static TypePtr none() noexcept;
  static TypePtr boolean() noexcept;
  static TypePtr integer() noexcept;
  static TypePtr symInt() noexcept;
  static TypePtr floating() noexcept;
  static TypePtr complex() noexcept;
  static TypePtr scalar() noexcept;
  static TypePtr string() noexcept;
  static TypePtr device() noexcept;
  static TypePtr scalarType() noexcept;
  static TypePtr layout() noexcept;
  static TypePtr memoryFormat() noexcept;
  static TypePtr generator() noexcept;
  static TypePtr storage() noexcept;
  static TypePtr stream() noexcept;
  static TypePtr capsule() noexcept;
  static TypePtr function() noexcept;
  static TypePtr any() noexcept;

  // Returns the only type of a kind without parameters.
  static TypePtr of(TypeKind kind);

  // Composed types. Each throws Error if the result would be nested deeper than kMaxDepth.
  static TypePtr listOf(TypePtr element);
  // `T?`; an optional or None is returned unchanged.
  static TypePtr optionalOf(TypePtr element);
  static TypePtr tupleOf(std::span<const TypePtr> elements);
  static TypePtr dictOf(TypePtr key, TypePtr value);
  static TypePtr futureOf(TypePtr element);
  static TypePtr awaitOf(TypePtr element);
  static TypePtr rrefOf(TypePtr element);
  static TypePtr unionOf(std::span<const TypePtr> members);
  // A registered class by its full name: `__torch__.torch.classes.ns.Name`.
  static TypePtr classNamed(std::string_view qualified_name);
  // A class that schemas cannot write, told from others called [name] by [identity], which is not null and never
  // freed: what describes the class. The same type each time.
  static TypePtr classOf(std::string_view name, const void* identity);
  // A type variable: `t`.
  static TypePtr variable(std::string_view name);

  // The maximum nesting depth of types.
  static constexpr int kMaxDepth = 64;

  TypeKind kind() const noexcept { return kind_; }
  bool isOptional() const noexcept { return kind_ == TypeKind::Optional; }
  bool isList() const noexcept { return kind_ == TypeKind::List; }

  // The types inside: one for a list, an optional, a Future; two for a Dict; any number for a tuple.
  std::span<const TypePtr> contained() const noexcept { return {contained_, contained_count_}; }
  // The only type inside a list, an optional, a Future, an Await or an RRef.
  TypePtr element() const noexcept { return contained_[0]; }

  // The type as schemas write it. Types that contain a class with an identity may share their text with others.
  std::string_view text() const noexcept { return {text_, text_size_}; }
  // What classOf was given; null for all other types.
  const void* identity() const noexcept { return identity_; }

  // Returns the type that represents values of this type: int for ScalarType, Layout, MemoryFormat, SymInt and the
  // like, str for Dimname, otherwise the type itself. Inner types stay as they are.
  TypePtr underlying() const noexcept;

  // The nesting depth, 1 for a type without parameters.
  int depth() const noexcept { return depth_; }

  // Whether it contains a type variable.
  bool hasVariables() const noexcept { return has_variables_; }

  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;

 private:
  friend class TypeTable;
  constexpr Type(TypeKind kind, std::string_view text) noexcept
      : kind_(kind), text_size_(static_cast<std::uint32_t>(text.size())), text_(text.data()) {}

  TypeKind kind_;
  std::uint8_t depth_ = 1;
  bool has_variables_ = false;
  std::uint32_t text_size_;
  std::uint32_t contained_count_ = 0;
  const char* text_;
  const TypePtr* contained_ = nullptr;
  const void* identity_ = nullptr;
  // The list and the optional of this type, once requested.
  mutable std::atomic<TypePtr> list_{nullptr};
  mutable std::atomic<TypePtr> optional_{nullptr};
};

// The type as schemas write it: `Dict(str, Tensor?[])`.
inline std::string_view toString(const Type& type) noexcept { return type.text(); }

// Whether every value of [type] is also one of [super]: T <: T?, None <: T?, int <: SymInt, int <: Scalar, ScalarType
// <: int, everything <: Any, a union by its members. Lists and dicts are invariant, tuples are not.
BOXCAR_API bool isSubtypeOf(TypePtr type, TypePtr super) noexcept;

}  // namespace boxcar
