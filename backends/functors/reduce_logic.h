#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/backends/functors/reducer_list.h>

#include <cstdint>
#include <type_traits>

// Whether any element, or every element, is not zero.

namespace boxcar::functors {

template <class T, bool every>
struct Truth {
  using Acc = uint8_t;
  // The result for uint8 is uint8.
  using Out = std::conditional_t<std::is_same_v<T, uint8_t>, uint8_t, bool>;
  static constexpr bool kUnordered = true;
  BOXCAR_HOST_DEVICE static Acc identity() { return every ? 1 : 0; }
  BOXCAR_HOST_DEVICE static Acc take(Acc acc, T x, int64_t) { return merge(acc, convertElement<bool>(x) ? 1 : 0); }
  BOXCAR_HOST_DEVICE static Acc merge(Acc a, Acc b) { return static_cast<Acc>(every ? a & b : a | b); }
  BOXCAR_HOST_DEVICE static Out finish(Acc acc, int64_t) { return static_cast<Out>(acc != 0); }
};
template <class T>
struct Any : Truth<T, false> {};
template <class T>
struct All : Truth<T, true> {};

}  // namespace boxcar::functors
