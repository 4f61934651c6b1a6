#pragma once

#include <boxcar/ivalue/list_object.h>

#include <compare>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace boxcar {

// A readable and writable element of a List<T>: the result of list[i] and of a list's iterators. Valid until the list
// changes its size.
//
//   list[0] = "a";
//   std::string first = list[0];
//   swap(list[0], list[1]);
template <class T>
class ListElementReference final {
 public:
  using Element = typename detail::ListStorage<T>::Element;

  explicit ListElementReference(Element& element) noexcept : element_(&element) {}
  ListElementReference(const ListElementReference&) noexcept = default;

  T get() const { return detail::fromElement<T>(*element_); }
  operator T() const { return get(); }

  // Both write to the element: assigning one element to another copies the value.
  const ListElementReference& operator=(T value) const {
    *element_ = Element(std::move(value));
    return *this;
  }
  const ListElementReference& operator=(const ListElementReference& other) const {
    if (this != &other) *element_ = *other.element_;
    return *this;
  }

  // Swaps the elements.
  friend void swap(ListElementReference a, ListElementReference b) noexcept { std::swap(*a.element_, *b.element_); }

  // Compare the values.
  friend bool operator==(const ListElementReference& a,
                         const ListElementReference& b) requires std::equality_comparable<T> {
    return a.get() == b.get();
  }
  friend auto operator<=>(const ListElementReference& a,
                          const ListElementReference& b) requires std::three_way_comparable<T> {
    return a.get() <=> b.get();
  }

 private:
  struct Nothing {};
  // An element that is compared with a number converts to a number itself.
  using Compared = std::conditional_t<std::is_class_v<T>, T, Nothing>;

 public:
  friend bool operator==(const ListElementReference& a, const Compared& b) requires std::equality_comparable<T> {
    return a.get() == b;
  }
  friend auto operator<=>(const ListElementReference& a, const Compared& b) requires std::three_way_comparable<T> {
    return a.get() <=> b;
  }

 private:
  Element* element_;
};

// Iterates over the elements of a List<T>. For a const list it returns values, otherwise references to the elements.
template <class T, bool kConst>
class ListIterator final {
 public:
  using Element = std::conditional_t<kConst, const typename detail::ListStorage<T>::Element,
                                     typename detail::ListStorage<T>::Element>;
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = std::conditional_t<kConst, T, ListElementReference<T>>;

  ListIterator() = default;
  explicit ListIterator(Element* element) noexcept : element_(element) {}
  // A read-only iterator from a writable one.
  template <bool kOther>
  requires(kConst && !kOther) ListIterator(ListIterator<T, kOther> other)
  noexcept : element_(other.element()) {}

  reference operator*() const {
    if constexpr (kConst) {
      return detail::fromElement<T>(*element_);
    } else {
      return reference(*element_);
    }
  }
  reference operator[](difference_type distance) const { return *(*this + distance); }

  ListIterator& operator++() noexcept {
    ++element_;
    return *this;
  }
  ListIterator& operator--() noexcept {
    --element_;
    return *this;
  }
  ListIterator operator++(int) noexcept { return ListIterator(element_++); }
  ListIterator operator--(int) noexcept { return ListIterator(element_--); }
  ListIterator& operator+=(difference_type distance) noexcept {
    element_ += distance;
    return *this;
  }
  ListIterator& operator-=(difference_type distance) noexcept {
    element_ -= distance;
    return *this;
  }
  friend ListIterator operator+(ListIterator iterator, difference_type distance) noexcept {
    return iterator += distance;
  }
  friend ListIterator operator+(difference_type distance, ListIterator iterator) noexcept {
    return iterator += distance;
  }
  friend ListIterator operator-(ListIterator iterator, difference_type distance) noexcept {
    return iterator -= distance;
  }
  friend difference_type operator-(ListIterator a, ListIterator b) noexcept { return a.element_ - b.element_; }
  friend bool operator==(ListIterator a, ListIterator b) noexcept { return a.element_ == b.element_; }
  friend std::strong_ordering operator<=>(ListIterator a, ListIterator b) noexcept { return a.element_ <=> b.element_; }

  // The stored element in the list.
  Element* element() const noexcept { return element_; }

 private:
  Element* element_ = nullptr;
};

}  // namespace boxcar
