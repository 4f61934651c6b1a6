#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/dict_object.h>
#include <boxcar/ivalue/enum_holder.h>
#include <boxcar/ivalue/error.h>  // IWYU pragma: export
#include <boxcar/ivalue/future.h>
#include <boxcar/ivalue/generator.h>
#include <boxcar/ivalue/heap_values.h>
#include <boxcar/ivalue/intrusive_ptr.h>
#include <boxcar/ivalue/list.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/storage.h>
#include <boxcar/ivalue/stream.h>
#include <boxcar/ivalue/sym_int.h>
#include <boxcar/ivalue/tensor.h>
#include <boxcar/ivalue/tuple.h>

#include <boost/variant2/variant.hpp>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace boxcar {

template <class K, class V>
class Dict;
using GenericDict = Dict<IValue, IValue>;

// Hash and equality of values by what they share, for IValue::getSubValues.
struct BOXCAR_API HashAliasedValue {
  size_t operator()(const IValue& value) const noexcept;
};
struct BOXCAR_API AreAliases {
  bool operator()(const IValue& a, const IValue& b) const noexcept;
};
using AliasedValues = std::unordered_set<IValue, HashAliasedValue, AreAliases>;

// Any value that an operator takes or returns: an element of the Stack of a boxed call.
//
//   IValue value(3);                       // Int
//   value = Tensor();                      // Tensor
//   if (value.isTensor()) use(value.toTensor());
//
// Two words. The payload is a boost::variant2::variant: one 8-byte alternative and an index. Scalars come first, then
// pointers to objects that share one base at offset 0. Copying and destroying therefore test once whether the index
// means "pointer" and then act on the base, where the variant itself would jump through a table of alternatives. A move
// copies 8 + 4 bytes (one 16-byte copy would stall on the two stores before it) and leaves None.
class BOXCAR_API IValue final {
 public:
  enum class Tag : uint32_t {
    None,
    Bool,
    Int,
    Double,
    Device,
    Stream,
    // The following tags are on the heap.
    Tensor,
    String,
    ComplexDouble,
    IntList,
    DoubleList,
    BoolList,
    ComplexDoubleList,
    TensorList,
    GenericList,
    GenericDict,
    Tuple,
    Generator,
    Storage,
    Object,
    Future,
    Enum,
  };
  static constexpr Tag kFirstHeapTag = Tag::Tensor;

 private:
  using Payload = boost::variant2::variant<
      std::monostate, bool, int64_t, double, boxcar::Device, boxcar::Stream, boxcar::Tensor, IntrusivePtr<StringObject>,
      IntrusivePtr<ComplexObject>, IntrusivePtr<IntListObject>, IntrusivePtr<DoubleListObject>,
      IntrusivePtr<BoolListObject>, IntrusivePtr<ComplexListObject>, IntrusivePtr<TensorListObject>,
      IntrusivePtr<GenericListObject>, IntrusivePtr<DictObject>, IntrusivePtr<TupleObject>, IntrusivePtr<GeneratorImpl>,
      boxcar::Storage, IntrusivePtr<CustomClassHolder>, IntrusivePtr<boxcar::Future>, IntrusivePtr<EnumHolder>>;
  template <Tag tag>
  using Alternative = boost::variant2::variant_alternative_t<static_cast<size_t>(tag), Payload>;

 public:
  // Reads without a check; the caller has checked the tag.
  template <Tag tag>
  const Alternative<tag>& unsafeGet() const noexcept {
    return boost::variant2::unsafe_get<static_cast<size_t>(tag)>(payload_);
  }
  template <Tag tag>
  Alternative<tag>& unsafeGet() noexcept {
    return boost::variant2::unsafe_get<static_cast<size_t>(tag)>(payload_);
  }

  IValue() noexcept : payload_() {}
  IValue(std::nullopt_t) noexcept : payload_() {}
  IValue(const IValue& other) noexcept {
    copyBits(other);
    if (isHeap()) base()->retain();
  }
  IValue(IValue&& other) noexcept {
    copyBits(other);
    new (&other.payload_) Payload();
  }
  ~IValue() {
    if (isHeap()) base()->release();
  }
  IValue& operator=(const IValue& other) noexcept {
    IValue(other).swap(*this);
    return *this;
  }
  IValue& operator=(IValue&& other) noexcept {
    IValue(std::move(other)).swap(*this);
    return *this;
  }
  void swap(IValue& other) noexcept {
    IValue kept(std::move(other));
    other.copyBits(*this);  // NOLINT(bugprone-use-after-move): what is left is None, and is written over
    copyBits(kept);
    new (&kept.payload_) Payload();
  }

  IValue(bool value) noexcept : payload_(value) {}
  // Without this, a SymInt would become a bool by way of its int64_t.
  IValue(SymInt value) noexcept : payload_(value.expect_int()) {}
  template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) IValue(T value)
  noexcept : payload_(static_cast<int64_t>(value)) {}
  template <std::floating_point T>
  IValue(T value) noexcept : payload_(static_cast<double>(value)) {}
  IValue(std::complex<double> value) : payload_(makeIntrusive<ComplexObject>(value)) {}
  IValue(const Scalar& value);
  IValue(std::string value) : payload_(makeIntrusive<StringObject>(std::move(value))) {}
  IValue(std::string_view value) : IValue(std::string(value)) {}
  IValue(const char* value) : IValue(std::string(value)) {}
  IValue(boxcar::Device value) noexcept : payload_(value) {}
  IValue(boxcar::Stream value) noexcept : payload_(value) {}
  IValue(ScalarType value) noexcept : IValue(static_cast<int64_t>(value)) {}
  IValue(Layout value) noexcept : IValue(static_cast<int64_t>(value)) {}
  IValue(MemoryFormat value) noexcept : IValue(static_cast<int64_t>(value)) {}
  IValue(const boxcar::Tensor& value) noexcept : payload_(value) {}
  IValue(boxcar::Tensor&& value) noexcept : payload_(std::move(value)) {}
  IValue(const boxcar::Generator& value) noexcept : payload_() {
    if (value.defined()) new (&payload_) Payload(value.object());
  }
  // A null pointer to a storage, an object, a future or a member of an enum gives None.
  IValue(boxcar::Storage value) noexcept : payload_() {
    if (value) new (&payload_) Payload(std::move(value));
  }
  template <class T>
  IValue(const List<T>& value) noexcept : payload_(value.object()) {}
  template <class K, class V>
  IValue(const Dict<K, V>& value) noexcept;
  IValue(const boxcar::Tuple& value) noexcept : payload_(value.object()) {}
  IValue(IntrusivePtr<CustomClassHolder> value) noexcept : payload_() {
    if (value) new (&payload_) Payload(std::move(value));
  }
  template <class T>
  requires std::is_base_of_v<CustomClassHolder, T> IValue(IntrusivePtr<T> value)
  noexcept : IValue(IntrusivePtr<CustomClassHolder>(std::move(value))) {}
  IValue(IntrusivePtr<boxcar::Future> value) noexcept : payload_() {
    if (value) new (&payload_) Payload(std::move(value));
  }
  IValue(IntrusivePtr<EnumHolder> value) noexcept : payload_() {
    if (value) new (&payload_) Payload(std::move(value));
  }
  // Without this, an element of a List<int64_t> would become a bool by way of its number.
  template <class T>
  requires(!std::is_same_v<T, IValue>) IValue(const ListElementReference<T>& element) : IValue(element.get()) {}
  template <class T>
  IValue(std::optional<T> value) : IValue() {
    if (value.has_value()) *this = IValue(*std::move(value));
  }
  template <class T>
  IValue(std::vector<T> value);
  // Makes a new list with a copy of the elements.
  template <class T>
  IValue(std::span<const T> elements) : IValue(std::vector<T>(elements.begin(), elements.end())) {}
  template <class... Ts>
  IValue(std::tuple<Ts...> value);
  // A pointer does not convert to bool; None is IValue().
  IValue(std::nullptr_t) = delete;
  template <class T>
  requires(!std::is_same_v<std::remove_cv_t<T>, char>) IValue(T*)
  = delete;

  Tag tag() const noexcept { return static_cast<Tag>(payload_.index()); }
  // Returns the kind's name for error messages: "Int", "Tensor", "GenericList" …
  const char* tagKind() const noexcept;

  bool isNone() const noexcept { return tag() == Tag::None; }
  bool isBool() const noexcept { return tag() == Tag::Bool; }
  bool isInt() const noexcept { return tag() == Tag::Int; }
  bool isDouble() const noexcept { return tag() == Tag::Double; }
  bool isComplexDouble() const noexcept { return tag() == Tag::ComplexDouble; }
  // A bool, an int, a float or a complex: what a Scalar can be.
  bool isScalar() const noexcept {
    return tag() == Tag::Int || tag() == Tag::Double || tag() == Tag::Bool || tag() == Tag::ComplexDouble;
  }
  bool isDevice() const noexcept { return tag() == Tag::Device; }
  bool isStream() const noexcept { return tag() == Tag::Stream; }
  bool isTensor() const noexcept { return tag() == Tag::Tensor; }
  bool isString() const noexcept { return tag() == Tag::String; }
  bool isIntList() const noexcept { return tag() == Tag::IntList; }
  bool isDoubleList() const noexcept { return tag() == Tag::DoubleList; }
  bool isBoolList() const noexcept { return tag() == Tag::BoolList; }
  bool isComplexDoubleList() const noexcept { return tag() == Tag::ComplexDoubleList; }
  bool isTensorList() const noexcept { return tag() == Tag::TensorList; }
  // A list of any kind. A generic list has IValues as elements; isIntList() and the like identify the other kinds.
  bool isList() const noexcept { return tag() >= Tag::IntList && tag() <= Tag::GenericList; }
  bool isGenericList() const noexcept { return tag() == Tag::GenericList; }
  bool isGenericDict() const noexcept { return tag() == Tag::GenericDict; }
  bool isTuple() const noexcept { return tag() == Tag::Tuple; }
  bool isGenerator() const noexcept { return tag() == Tag::Generator; }
  bool isStorage() const noexcept { return tag() == Tag::Storage; }
  bool isObject() const noexcept { return tag() == Tag::Object; }
  bool isFuture() const noexcept { return tag() == Tag::Future; }
  bool isEnum() const noexcept { return tag() == Tag::Enum; }
  // Whether copies share an object on the heap; false for the undefined tensor.
  bool isPtrType() const noexcept { return isHeap() && !(isTensor() && !unsafeGet<Tag::Tensor>().defined()); }

  // Each returns the value, or throws an Error that names the wanted kind and the found kind. On an rvalue they take
  // the value out and leave None.
  bool toBool() const { return get<Tag::Bool>(); }
  int64_t toInt() const { return get<Tag::Int>(); }
  double toDouble() const { return get<Tag::Double>(); }
  std::complex<double> toComplexDouble() const { return get<Tag::ComplexDouble>()->value(); }
  // A number of any kind.
  Scalar toScalar() const;
  boxcar::Device toDevice() const { return get<Tag::Device>(); }
  boxcar::Stream toStream() const { return get<Tag::Stream>(); }
  const boxcar::Tensor& toTensor() const& { return get<Tag::Tensor>(); }
  boxcar::Tensor& toTensor() & { return const_cast<boxcar::Tensor&>(get<Tag::Tensor>()); }
  boxcar::Tensor toTensor() && { return take<Tag::Tensor>(); }
  const std::string& toStringRef() const { return get<Tag::String>()->text(); }
  std::string_view toStringView() const { return get<Tag::String>()->text(); }
  List<int64_t> toIntList() const& { return List<int64_t>(get<Tag::IntList>()); }
  List<int64_t> toIntList() && { return List<int64_t>(take<Tag::IntList>()); }
  List<double> toDoubleList() const& { return List<double>(get<Tag::DoubleList>()); }
  List<double> toDoubleList() && { return List<double>(take<Tag::DoubleList>()); }
  List<bool> toBoolList() const& { return List<bool>(get<Tag::BoolList>()); }
  List<bool> toBoolList() && { return List<bool>(take<Tag::BoolList>()); }
  List<std::complex<double>> toComplexDoubleList() const& {
    return List<std::complex<double>>(get<Tag::ComplexDoubleList>());
  }
  List<std::complex<double>> toComplexDoubleList() && {
    return List<std::complex<double>>(take<Tag::ComplexDoubleList>());
  }
  List<boxcar::Tensor> toTensorList() const& { return List<boxcar::Tensor>(get<Tag::TensorList>()); }
  List<boxcar::Tensor> toTensorList() && { return List<boxcar::Tensor>(take<Tag::TensorList>()); }
  // For generic lists only; the elements of other lists are not IValues. to<std::vector<IValue>>() copies any list.
  GenericList toList() const& { return GenericList(get<Tag::GenericList>()); }
  GenericList toList() && { return GenericList(take<Tag::GenericList>()); }
  GenericDict toGenericDict() const&;
  GenericDict toGenericDict() &&;
  boxcar::Tuple toTuple() const& { return boxcar::Tuple(get<Tag::Tuple>()); }
  boxcar::Tuple toTuple() && { return boxcar::Tuple(take<Tag::Tuple>()); }
  boxcar::Generator toGenerator() const& { return boxcar::Generator(get<Tag::Generator>()); }
  boxcar::Generator toGenerator() && { return boxcar::Generator(take<Tag::Generator>()); }
  boxcar::Storage toStorage() const& { return get<Tag::Storage>(); }
  boxcar::Storage toStorage() && { return take<Tag::Storage>(); }
  const IntrusivePtr<CustomClassHolder>& toObject() const& { return get<Tag::Object>(); }
  IntrusivePtr<CustomClassHolder> toObject() && { return take<Tag::Object>(); }
  IntrusivePtr<boxcar::Future> toFuture() const& { return get<Tag::Future>(); }
  IntrusivePtr<boxcar::Future> toFuture() && { return take<Tag::Future>(); }
  IntrusivePtr<EnumHolder> toEnumHolder() const& { return get<Tag::Enum>(); }
  IntrusivePtr<EnumHolder> toEnumHolder() && { return take<Tag::Enum>(); }
  ScalarType toScalarType() const { return static_cast<ScalarType>(toInt()); }

  // Returns the number of elements of a list of any kind, a tuple or a dict.
  size_t length() const;
  // Returns element [index] of a list of any kind or of a tuple; index < length().
  IValue elementAt(size_t index) const;

  // Returns the value as a C++ type of the type table: to<int64_t>(), to<Tensor>(), to<std::vector<double>>(),
  // to<std::optional<Tensor>>(), to<List<std::string>>() … Throws an Error that names both kinds.
  template <class T>
  T to() const;

  // Whether both are one object, or numbers or strings of the same kind and value. The undefined tensor is None.
  bool is(const IValue& other) const noexcept;
  // Whether a write to one shows in the other: tensors on one storage, or one object. Numbers have no alias.
  bool isAliasOf(const IValue& other) const noexcept;
  // Adds this value and everything that it holds to [found], except numbers, strings and the like; of aliases only the
  // first one.
  void getSubValues(AliasedValues& found) const;
  // Whether something that one holds is an alias of something that the other holds.
  bool overlaps(const IValue& other) const;
  // The number of references to the object; 1 for a value that has none.
  size_t use_count() const noexcept { return isHeap() ? base()->useCount() : 1; }
  // The object of a heap value; otherwise null.
  const boxcar::Object* object() const noexcept { return isHeap() ? base() : nullptr; }

  // Python's ==: compares numbers by value across kinds, containers by their elements, tensors and other objects by
  // identity.
  friend BOXCAR_API bool operator==(const IValue& a, const IValue& b);

  // Agrees with ==. Throws Error for lists, dicts and other values that cannot be a key.
  size_t hash() const;

 private:
  // The variant keeps its index plus one, so this compares what is stored, without a subtraction.
  bool isHeap() const noexcept {
    return static_cast<uint32_t>(payload_.index()) + 1 > static_cast<uint32_t>(kFirstHeapTag);
  }
  const boxcar::Object* base() const noexcept {
    const boxcar::Object* object;
    std::memcpy(&object, static_cast<const void*>(&payload_), sizeof(object));
    return object;
  }
  // None has no payload, but its 8 bytes are copied all the same.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
  void copyBits(const IValue& other) noexcept {
    std::memcpy(static_cast<void*>(&payload_), static_cast<const void*>(&other.payload_), 8);
    std::memcpy(reinterpret_cast<char*>(&payload_) + 8, reinterpret_cast<const char*>(&other.payload_) + 8, 4);
  }
#pragma GCC diagnostic pop

  template <Tag wanted>
  const Alternative<wanted>& get() const {
    if (tag() != wanted) [[unlikely]]
      wrongKind(wanted);
    return unsafeGet<wanted>();
  }
  // Like get(), but leaves None.
  template <Tag wanted>
  Alternative<wanted> take() {
    if (tag() != wanted) [[unlikely]]
      wrongKind(wanted);
    Alternative<wanted> taken = std::move(unsafeGet<wanted>());
    new (&payload_) Payload();
    return taken;
  }
  [[noreturn, gnu::cold]] void wrongKind(Tag wanted) const;

  // In a union, so that the variant's own destructor never runs.
  union {
    Payload payload_;
  };
};

static_assert(sizeof(IValue) == 16);

// The text that print() shows: a string without quotes, everything else as Python's repr.
BOXCAR_API std::string toString(const IValue& value);
// Python's repr: strings quoted, tensors as PyTorch's repr, a list inside itself as [...].
BOXCAR_API std::string repr(const IValue& value);

}  // namespace boxcar

template <>
struct std::hash<boxcar::IValue> {
  size_t operator()(const boxcar::IValue& value) const { return value.hash(); }
};
