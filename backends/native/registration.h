#pragma once

#include <boxcar/dispatcher/registry/library.h>

namespace boxcar::native {

// Registers the CUDA kernels, if any, once: on the first allocation of CUDA memory. Most programs never use CUDA, and
// registering takes as long as the rest of startup.
void registerCudaKernels();

namespace detail {

// A block of CUDA registrations that waits for registerCudaKernels().
class WaitingBlock final {
 public:
  WaitingBlock(::boxcar::detail::LibraryBlock& block, bool (*wanted)()) noexcept;

 private:
  friend void native::registerCudaKernels();

  ::boxcar::detail::LibraryBlock& block_;
  bool (*const wanted_)();
  WaitingBlock* next_;
};

template <class... Functions>
bool allOnCuda(const Functions&... functions) {
  return (functions.hasCuda() && ...);
}

}  // namespace detail
}  // namespace boxcar::native

// A block of registrations for CPU, for Meta and, if CUDA has all the device functions listed after [m], for CUDA. The
// kernels compute the result's sizes, strides and dtype first, and skip the elements on Meta.
//
//   BOXCAR_NATIVE_KERNELS(aten, m, softmaxLines) {
//     m.impl("_softmax", BOXCAR_FN(softmax));
//   }
#define BOXCAR_NATIVE_KERNELS(ns, m, ...) \
  BOXCAR_NATIVE_KERNELS_BLOCK(ns, m, BOXCAR_CONCATENATE(boxcar_dense_kernels_, BOXCAR_UID), __VA_ARGS__)
#define BOXCAR_NATIVE_KERNELS_BLOCK(ns, m, function, ...) \
  static void function(::boxcar::Library& m);             \
  BOXCAR_LIBRARY_IMPL(ns, CPU, m) { function(m); }        \
  BOXCAR_LIBRARY_IMPL(ns, Meta, m) { function(m); }       \
  BOXCAR_DENSE_CUDA_BLOCK(ns, function, __VA_ARGS__)      \
  static void function([[maybe_unused]] ::boxcar::Library& m)

// Like BOXCAR_NATIVE_KERNELS without Meta: for kernels whose result sizes depend on elements.
#define BOXCAR_NATIVE_KERNELS_OF_DATA(ns, m, ...) \
  BOXCAR_NATIVE_KERNELS_OF_DATA_BLOCK(ns, m, BOXCAR_CONCATENATE(boxcar_dense_kernels_, BOXCAR_UID), __VA_ARGS__)
#define BOXCAR_NATIVE_KERNELS_OF_DATA_BLOCK(ns, m, function, ...) \
  static void function(::boxcar::Library& m);                     \
  BOXCAR_LIBRARY_IMPL(ns, CPU, m) { function(m); }                \
  BOXCAR_DENSE_CUDA_BLOCK(ns, function, __VA_ARGS__)              \
  static void function([[maybe_unused]] ::boxcar::Library& m)

#define BOXCAR_DENSE_CUDA_BLOCK(ns, function, ...)                                          \
  static constinit ::boxcar::detail::LibraryBlock BOXCAR_CONCATENATE(function, _cuda) = {   \
      ::boxcar::detail::LibraryKind::Implementation,                                        \
      ::boxcar::DispatchKey::CUDA,                                                          \
      #ns,                                                                                  \
      &function,                                                                            \
      __FILE__,                                                                             \
      __LINE__,                                                                             \
      BOXCAR_ALLOWED_OPERATORS};                                                            \
  static const ::boxcar::native::detail::WaitingBlock BOXCAR_CONCATENATE(function, _waits)( \
      BOXCAR_CONCATENATE(function, _cuda), [] { return ::boxcar::native::detail::allOnCuda(__VA_ARGS__); });
