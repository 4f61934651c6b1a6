#pragma once

#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/device.h>

#include <cstdint>
#include <source_location>
#include <string_view>
#include <utility>

namespace boxcar::native {

// Registers the native kernels of devices of [type], other than the CPU, once: those whose stubs all have a function of
// it. A backend calls it when its first memory is requested, because most programs never use the device, and
// registering takes as long as the rest of their start.
void registerNativeKernels(DeviceType type);

// A library, for kernels that write memory themselves: each counts one write of what it takes as Tensor&.
class NativeLibrary final {
 public:
  NativeLibrary(Library& library) noexcept : library_(library) {}
  operator Library&() const noexcept { return library_; }

  template <auto* function>
  void impl(std::string_view name, CompileTimeFunction<function>,
            std::source_location where = std::source_location::current()) const {
    library_.impl(name, ::boxcar::detail::kStatelessKernelOf<function, WriteCount::kAlways>, where);
  }
  void impl(std::string_view name, CppFunction function,
            std::source_location where = std::source_location::current()) const {
    library_.impl(name, std::move(function), where);
  }

 private:
  Library& library_;
};

namespace detail {

// A block of registrations that waits for that, for any device.
struct WaitingBlock {
  const char* ns;
  void (*init)(Library&);
  const char* file;
  uint32_t line;
  const char* allowed_operators;
  bool (*is_on)(DeviceType type);
  const WaitingBlock* next = nullptr;
};
struct WaitingLink {
  explicit WaitingLink(WaitingBlock& block) noexcept;
};

template <class... Stubs>
bool allOn(DeviceType type, const Stubs&... stubs) {
  return (stubs.has(type) && ...);
}

}  // namespace detail
}  // namespace boxcar::native

// A block of registrations for CPU, for Meta and for every other device that has functions at all stubs listed after
// [m]. The kernels compute the result's sizes, strides and dtype first, and skip the elements on Meta.
//
//   BOXCAR_NATIVE_KERNELS(aten, m, softmaxLines) {
//     m.impl("_softmax", BOXCAR_FN(softmax));
//   }
#define BOXCAR_NATIVE_KERNELS(ns, m, ...) \
  BOXCAR_NATIVE_KERNELS_BLOCK(ns, m, BOXCAR_CONCATENATE(boxcar_native_kernels_, BOXCAR_UID), __VA_ARGS__)
#define BOXCAR_NATIVE_KERNELS_BLOCK(ns, m, function, ...)  \
  static void function(::boxcar::native::NativeLibrary m); \
  BOXCAR_LIBRARY_IMPL(ns, CPU, m) { function(m); }         \
  BOXCAR_LIBRARY_IMPL(ns, Meta, m) { function(m); }        \
  BOXCAR_WAITING_BLOCK(ns, function, __VA_ARGS__)          \
  static void function([[maybe_unused]] ::boxcar::native::NativeLibrary m)

// Like BOXCAR_NATIVE_KERNELS without Meta: for kernels whose result sizes depend on elements.
#define BOXCAR_NATIVE_KERNELS_OF_DATA(ns, m, ...) \
  BOXCAR_NATIVE_KERNELS_OF_DATA_BLOCK(ns, m, BOXCAR_CONCATENATE(boxcar_native_kernels_, BOXCAR_UID), __VA_ARGS__)
#define BOXCAR_NATIVE_KERNELS_OF_DATA_BLOCK(ns, m, function, ...) \
  static void function(::boxcar::native::NativeLibrary m);        \
  BOXCAR_LIBRARY_IMPL(ns, CPU, m) { function(m); }                \
  BOXCAR_WAITING_BLOCK(ns, function, __VA_ARGS__)                 \
  static void function([[maybe_unused]] ::boxcar::native::NativeLibrary m)

#define BOXCAR_WAITING_BLOCK(ns, function, ...)                                                                    \
  static constinit ::boxcar::native::detail::WaitingBlock BOXCAR_CONCATENATE(function, _waiting) = {               \
      #ns,                                                                                                         \
      [](::boxcar::Library& m) { function(m); },                                                                   \
      __FILE__,                                                                                                    \
      __LINE__,                                                                                                    \
      BOXCAR_ALLOWED_OPERATORS,                                                                                    \
      [](::boxcar::DeviceType type) { return ::boxcar::native::detail::allOn(type __VA_OPT__(, ) __VA_ARGS__); }}; \
  static const ::boxcar::native::detail::WaitingLink BOXCAR_CONCATENATE(                                           \
      function, _link)(BOXCAR_CONCATENATE(function, _waiting));
