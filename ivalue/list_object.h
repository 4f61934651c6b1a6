#pragma once

#include <boxcar/ivalue/error.h>  // IWYU pragma: export
#include <boxcar/ivalue/intrusive_ptr.h>
#include <boxcar/ivalue/tensor.h>

#include <boost/container/vector.hpp>
#include <complex>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace boxcar {

class IValue;

namespace detail {

template <class T>
concept TypedListElement = std::same_as<T, int64_t> || std::same_as<T, double> || std::same_as<T, bool> ||
    std::same_as<T, std::complex<double>> || std::same_as<T, Tensor>;

// The elements of int[], float[], bool[], complex[] and Tensor[] are stored contiguously in their own type, so that a
// kernel borrows them as a span; the elements of every other list are IValues. (std::vector<bool> has no addressable
// elements.)
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

// Prevents a stack overflow when lists are nested a million deep: beyond a depth limit, the outermost call destroys the
// nested values one after another.
BOXCAR_API void destroyNested(std::vector<IValue>&& values) noexcept;

[[noreturn]] BOXCAR_API void listIndexOutOfRange(int64_t index, size_t size);

// Returns the element of a List<T> as a T.
template <class T, class Element>
T fromElement(const Element& element) {
  if constexpr (std::same_as<T, Element>) {
    return element;
  } else {
    return element.template to<T>();
  }
}

}  // namespace detail

// What List<T> points to. Element is int64_t, double, bool, std::complex<double>, Tensor or IValue.
template <class Element>
class BOXCAR_API ListObject final : public ObjectOf<ListObject<Element>> {
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

}  // namespace boxcar
