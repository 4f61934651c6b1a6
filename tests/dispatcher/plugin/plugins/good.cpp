#include <boxcar/boxcar.h>
#include <boxcar/ops.h>

#include <cstdlib>
#include <memory>

using namespace boxcar;

BOXCAR_PLUGIN("good", "1.2");

namespace {

// Uses the Dispatcher in a static constructor, which must not read this plugin's blocks early.
const bool was_read_early = [] {
  const bool found = Dispatcher::singleton().findOp({"test_plugin::twice", ""}).has_value();
  setenv("BOXCAR_TEST_GOOD_WAS_READ_EARLY", found ? "yes" : "no", 1);
  return found;
}();

Tensor twice(const Tensor& x) { return mul(x, 2); }

Tensor negOfIpu(const Tensor& x) { return x; }

void skip(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  op.redispatchBoxed(keys.remove(DispatchKey::TESTING_ONLY_GenericMode), stack);
}

void* allocate(size_t bytes, DeviceIndex) { return std::malloc(bytes); }
void deallocate(void* memory, size_t, DeviceIndex) { std::free(memory); }
constexpr Allocator kAllocator = {allocate, deallocate};

}  // namespace

BOXCAR_LIBRARY(test_plugin, m) {
  m.def("twice(Tensor x) -> Tensor");
  // The state of a kernel lives as long as its registration.
  m.def("count", [state = std::make_shared<int64_t>(0)](const Tensor&) { return ++*state; });
}
BOXCAR_LIBRARY_IMPL(test_plugin, CPU, m) { m.impl("twice", BOXCAR_FN(twice)); }
BOXCAR_LIBRARY_IMPL(aten, IPU, m) { m.impl("neg", BOXCAR_FN(negOfIpu)); }
BOXCAR_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, m) { m.fallback(CppFunction::makeFromBoxedFunction<&skip>()); }
BOXCAR_LIBRARY_IMPL(test_plugin, PrivateUse1, m) { setAllocator(DeviceType::PrivateUse1, &kAllocator); }
