#pragma once

#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/library.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tests/test_support.h"

namespace boxcar {

inline Tensor cpuTensor() { return Tensor::allocate(std::vector<int64_t>{2}, ScalarType::Float); }
inline Tensor metaTensor() {
  return Tensor::allocate(std::vector<int64_t>{2}, ScalarType::Float, Device(DeviceType::Meta));
}

// Returns a tensor in CPU memory that dispatches on [keys].
inline Tensor tensorWith(std::initializer_list<DispatchKey> keys) {
  Tensor tensor = cpuTensor();
  tensor.unsafeGetTensorImpl()->set_key_set(DispatchKeySet(keys));
  return tensor;
}

// Libraries for one test; their registrations end with the test.
inline Library definitions(std::string ns = "test", uint32_t line = 1) {
  return {Library::FRAGMENT, std::move(ns), std::nullopt, "test.cpp", line};
}
inline Library implementations(DispatchKey key, std::string ns = "test", uint32_t line = 2) {
  return {Library::IMPL, std::move(ns), key, "test.cpp", line};
}
inline Library fallbacks(DispatchKey key, uint32_t line = 3) { return {Library::IMPL, "_", key, "test.cpp", line}; }

inline OperatorHandle find(const char* name, const char* overload = "") {
  return Dispatcher::singleton().findSchemaOrThrow(name, overload);
}

inline uint32_t useCount(const Tensor& tensor) { return tensor.unsafeGetTensorImpl()->useCount(); }

// Returns the stack after a boxed call of [op] with [args].
inline Stack callOp(const OperatorHandle& op, const auto&... args) {
  Stack stack;
  stack.emplace(args...);
  op.callBoxed(stack);
  return stack;
}

// A generator that adds [keys] to a call.
class KeyedGeneratorImpl final : public GeneratorImpl {
 public:
  explicit KeyedGeneratorImpl(DispatchKeySet keys) : GeneratorImpl(Device(DeviceType::CPU), keys) {}
  void set_current_seed(uint64_t) override {}
  uint64_t current_seed() const override { return 0; }
};
inline Generator makeGenerator(DispatchKeySet keys) {
  return Generator(IntrusivePtr<GeneratorImpl>(makeIntrusive<KeyedGeneratorImpl>(keys)));
}

}  // namespace boxcar
