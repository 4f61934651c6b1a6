#pragma once

#include <boxcar/ivalue/error.h>  // IWYU pragma: export
#include <boxcar/ivalue/intrusive_ptr.h>
#include <boxcar/ivalue/tensor.h>

#include <boost/container/vector.hpp>
#include <complex>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace boxcar {

class IValue;

namespace detail {

template <class T>
concept TypedListElement = std::same_as<T, int64_t> || std::same_as<T, double> || std::same_as<T, bool> ||
    std::same_as<T, std::complex<double>> || std::same_as<T, Tensor>;

// The elements of int[], float[], bool[], complex[] and Tensor[] lie side by side in their own type, so that a kernel
// borrows them as a span; those of every other list are IValues. (std::vector<bool> has no elements to point to.)
template <class T>
struct ListStorage {
  using Element = IValue;
  using Vector = std::vector<IValue>;
};
template <TypedListElement T>
struct ListStorage<T> {
  using Element = T;
  using Vector = std::conditional_t<std::same_as<T, bool>, boost::container::vector<bool>, std::vector<T>>;
};

// Guards against a stack overflow where lists lie in lists a million deep: what is nested deeper than a limit is
// destroyed one after another by the outermost call.
BOXCAR_API void destroyNested(std::vector<IValue>&& values) noexcept;

[[noreturn]] BOXCAR_API void listIndexOutOfRange(int64_t index, size_t size);

}  // namespace detail

// What List<T> points to. Element is int64_t, double, bool, std::complex<double>, Tensor or IValue.
template <class Element>
class BOXCAR_API ListObject final : public Object {
 public:
  using Vector = typename detail::ListStorage<Element>::Vector;

  ListObject() = default;
  explicit ListObject(Vector elements) noexcept : values(std::move(elements)) {}
  ~ListObject() override {
    if constexpr (std::same_as<Element, IValue>) detail::destroyNested(std::move(values));
  }

  Vector values;
};

using IntListObject = ListObject<int64_t>;
using DoubleListObject = ListObject<double>;
using BoolListObject = ListObject<bool>;
using ComplexListObject = ListObject<std::complex<double>>;
using TensorListObject = ListObject<Tensor>;
using GenericListObject = ListObject<IValue>;

// A list with reference semantics: copies of a List are the same list. `==` compares the elements, `is` the identity.
//
//   List<int64_t> sizes{2, 3};
//   sizes.push_back(4);
//   for (int64_t size : sizes) …
template <class T>
class List final {
 public:
  using value_type = T;
  using Element = typename detail::ListStorage<T>::Element;
  using ObjectType = ListObject<Element>;

  List() : object_(makeIntrusive<ObjectType>()) {}
  List(std::initializer_list<T> elements) : List() {
    reserve(elements.size());
    for (const T& element : elements) push_back(element);
  }
  explicit List(std::span<const T> elements) requires detail::TypedListElement<T> : List() {
    object_->values.assign(elements.begin(), elements.end());
  }
  explicit List(IntrusivePtr<ObjectType> object) noexcept : object_(std::move(object)) {}

  size_t size() const noexcept { return object_->values.size(); }
  bool empty() const noexcept { return object_->values.empty(); }
  void reserve(size_t size) const { object_->values.reserve(size); }
  void clear() const noexcept { object_->values.clear(); }

  // The element at [index]; an Error when the list is shorter.
  T get(size_t index) const {
    checkIndex(index);
    return convert(object_->values[index]);
  }
  T operator[](size_t index) const { return get(index); }
  void set(size_t index, T value) const {
    checkIndex(index);
    object_->values[index] = Element(std::move(value));
  }
  // NOLINTNEXTLINE(performance-unnecessary-value-param): of most types it is moved
  void push_back(T value) const { object_->values.push_back(Element(std::move(value))); }

  // A new list of the same elements.
  List copy() const { return List(makeIntrusive<ObjectType>(object_->values)); }
  // Both are one list.
  bool is(const List& other) const noexcept { return object_ == other.object_; }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }

  // The elements side by side; valid until the list changes.
  std::span<const Element> span() const noexcept { return {object_->values.data(), object_->values.size()}; }

  const IntrusivePtr<ObjectType>& object() const noexcept { return object_; }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = T;

    Iterator() = default;
    explicit Iterator(const Element* element) : element_(element) {}
    T operator*() const { return convert(*element_); }
    Iterator& operator++() {
      ++element_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(element_++); }
    bool operator==(const Iterator&) const = default;

   private:
    const Element* element_ = nullptr;
  };

  Iterator begin() const { return Iterator(object_->values.data()); }
  Iterator end() const { return Iterator(object_->values.data() + object_->values.size()); }

  friend bool operator==(const List& a, const List& b) {
    if (a.is(b)) return true;
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      if constexpr (std::same_as<Element, Tensor>) {
        if (!a.object_->values[i].is_same(b.object_->values[i])) return false;
      } else {
        if (!(a.object_->values[i] == b.object_->values[i])) return false;
      }
    }
    return true;
  }

 private:
  static T convert(const Element& element) {
    if constexpr (std::same_as<T, Element>) {
      return element;
    } else {
      return element.template to<T>();
    }
  }
  void checkIndex(size_t index) const {
    if (index >= size()) [[unlikely]]
      detail::listIndexOutOfRange(static_cast<int64_t>(index), size());
  }

  IntrusivePtr<ObjectType> object_;
};

using GenericList = List<IValue>;

}  // namespace boxcar
