#pragma once

#include <boxcar/dispatcher/library.h>
#include <boxcar/ivalue/device.h>

namespace boxcar::dense::detail {

template <class... Functions>
bool allOnCuda(const Functions&... functions) {
  return (functions.has(DeviceType::CUDA) && ...);
}

}  // namespace boxcar::dense::detail

// A block of registrations for CPU, for Meta and, where it has all of the device functions that are named behind [m],
// for CUDA: kernels that work out the result's sizes, strides and dtype first, and leave out the elements of tensors
// that have none.
//
//   BOXCAR_DENSE_KERNELS(aten, m, softmaxLines) {
//     m.impl("_softmax", BOXCAR_FN(softmax));
//   }
#define BOXCAR_DENSE_KERNELS(ns, m, ...) \
  BOXCAR_DENSE_KERNELS_BLOCK(ns, m, BOXCAR_CONCATENATE(boxcar_dense_kernels_, BOXCAR_UID), __VA_ARGS__)
#define BOXCAR_DENSE_KERNELS_BLOCK(ns, m, function, ...)              \
  static void function(::boxcar::Library& m);                         \
  BOXCAR_LIBRARY_IMPL(ns, CPU, m) { function(m); }                    \
  BOXCAR_LIBRARY_IMPL(ns, Meta, m) { function(m); }                   \
  BOXCAR_LIBRARY_IMPL(ns, CUDA, m) {                                  \
    if (::boxcar::dense::detail::allOnCuda(__VA_ARGS__)) function(m); \
  }                                                                   \
  static void function([[maybe_unused]] ::boxcar::Library& m)
