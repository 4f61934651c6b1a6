#pragma once

#include <boxcar/ivalue/list_element.h>
#include <boxcar/ivalue/list_object.h>  // IWYU pragma: export

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace boxcar {

// A list with reference semantics: copies of a List refer to one list, and a moved-from List still does. It is never
// null. `==` compares the elements, `is` the identity. An index out of range throws IndexError.
//
//   List<int64_t> sizes{2, 3};
//   sizes.push_back(4);
//   sizes[0] = 1;
//   for (int64_t size : sizes) …
template <class T>
class List final {
 public:
  using value_type = T;
  using size_type = size_t;
  using Element = typename detail::ListStorage<T>::Element;
  using ObjectType = ListObject<Element>;
  using reference = ListElementReference<T>;
  using iterator = ListIterator<T, false>;
  using const_iterator = ListIterator<T, true>;

  List() : object_(makeIntrusive<ObjectType>()) {}
  List(std::initializer_list<T> elements) : List(std::span<const T>(elements.begin(), elements.size())) {}
  explicit List(std::span<const T> elements) : List() {
    if constexpr (detail::TypedListElement<T>) {
      object_->values.assign(elements.begin(), elements.end());
    } else {
      reserve(elements.size());
      for (const T& element : elements) push_back(element);
    }
  }
  explicit List(IntrusivePtr<ObjectType> object) noexcept : object_(std::move(object)) {}
  // Moving copies, because a moved-from List would otherwise hold no list.
  List(const List&) noexcept = default;
  List& operator=(const List&) noexcept = default;
  ~List() = default;

  size_t size() const noexcept { return object_->values.size(); }
  bool empty() const noexcept { return object_->values.empty(); }
  void reserve(size_t size) const { object_->values.reserve(size); }
  void clear() const noexcept { object_->values.clear(); }

  T get(size_t index) const { return detail::fromElement<T>(at(index)); }
  void set(size_t index, T value) const { at(index) = Element(std::move(value)); }
  // Moves the element out and leaves a T() in its place.
  T extract(size_t index) const {
    Element& element = at(index);
    Element taken = std::exchange(element, Element(T()));
    if constexpr (std::same_as<T, Element>) {
      return taken;
    } else {
      return detail::fromElement<T>(taken);
    }
  }
  // Returns a reference to the element, `list[i] = v`; for a const list its value, which cannot be assigned to.
  reference operator[](size_t index) { return reference(at(index)); }
  // NOLINTNEXTLINE(readability-const-return-type): what is assigned to it would be lost
  std::conditional_t<std::is_class_v<T>, const T, T> operator[](size_t index) const { return get(index); }

  // NOLINTNEXTLINE(performance-unnecessary-value-param): of most types it is moved
  void push_back(T value) const { object_->values.push_back(Element(std::move(value))); }
  template <class... Args>
  void emplace_back(Args&&... args) const {
    push_back(T(std::forward<Args>(args)...));
  }
  // Appends the elements of [other], which may be this list.
  void append(const List& other) const {  // NOLINT(performance-unnecessary-value-param)
    const size_t count = other.size();
    reserve(size() + count);
    for (size_t i = 0; i < count; ++i) object_->values.push_back(other.object_->values[i]);
  }
  void pop_back() const {
    if (empty()) [[unlikely]]
      detail::listIndexOutOfRange(-1, 0);
    object_->values.pop_back();
  }
  // Fills new places with T() or [value].
  void resize(size_t size) const { resize(size, T()); }
  void resize(size_t size, const T& value) const { object_->values.resize(size, Element(value)); }

  // Inserts [value] before [position]; returns an iterator to it.
  iterator insert(const_iterator position, T value) const {
    return made(object_->values.insert(placeOf(position), Element(std::move(value))));
  }
  template <class... Args>
  iterator emplace(const_iterator position, Args&&... args) const {
    return insert(position, T(std::forward<Args>(args)...));
  }
  // Each returns an iterator behind what it removed.
  iterator erase(const_iterator position) const { return made(object_->values.erase(placeOf(position))); }
  iterator erase(const_iterator first, const_iterator past) const {
    return made(object_->values.erase(placeOf(first), placeOf(past)));
  }

  iterator begin() noexcept { return iterator(object_->values.data()); }
  iterator end() noexcept { return begin() + static_cast<std::ptrdiff_t>(size()); }
  const_iterator begin() const noexcept { return const_iterator(object_->values.data()); }
  const_iterator end() const noexcept { return begin() + static_cast<std::ptrdiff_t>(size()); }
  const_iterator cbegin() const noexcept { return begin(); }
  const_iterator cend() const noexcept { return end(); }

  // Returns a new list of the same elements.
  List copy() const { return List(makeIntrusive<ObjectType>(object_->values)); }
  // Returns whether both are one list.
  bool is(const List& other) const noexcept { return object_ == other.object_; }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }

  // The elements as contiguous memory; valid until the list changes.
  std::span<const Element> span() const noexcept { return {object_->values.data(), object_->values.size()}; }

  const IntrusivePtr<ObjectType>& object() const noexcept { return object_; }
  // The number of references to the list.
  size_t use_count() const noexcept { return object_.use_count(); }

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
  Element& at(size_t index) const {
    if (index >= size()) [[unlikely]]
      detail::listIndexOutOfRange(static_cast<int64_t>(index), size());
    return object_->values[index];
  }
  auto placeOf(const_iterator position) const noexcept {
    return object_->values.begin() + (position.element() - object_->values.data());
  }
  iterator made(typename ObjectType::Vector::iterator place) const noexcept {
    return iterator(object_->values.data() + (place - object_->values.begin()));
  }

  IntrusivePtr<ObjectType> object_;
};

using GenericList = List<IValue>;

}  // namespace boxcar
