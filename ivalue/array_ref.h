#pragma once

#include <boxcar/ivalue/sym_int.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>

namespace boxcar {

// A span that also takes a braced list, `zeros({2, 3})`. For arguments only: the elements of the braces live no longer
// than the call.
template <class T>
class ArrayRef : public std::span<const T> {
 public:
  using Base = std::span<const T>;

  constexpr ArrayRef() noexcept = default;
  constexpr ArrayRef(std::initializer_list<T> elements) noexcept : Base(elements.begin(), elements.size()) {}
  template <class Range>
  requires std::is_constructible_v<Base, const Range&>
  constexpr ArrayRef(const Range& range) noexcept : Base(range) {}
};

using IntArrayRef = ArrayRef<int64_t>;
using SymIntArrayRef = ArrayRef<SymInt>;

}  // namespace boxcar
