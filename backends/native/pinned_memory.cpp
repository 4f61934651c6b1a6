#include <boxcar/backends/meta/defined.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/pinned_memory.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <optional>

namespace boxcar::native {
namespace {

void checkDevice(std::optional<Device> device) {
  BOXCAR_CHECK(!device || device->is_cuda(), "pinned memory is for CUDA devices, not for '{}'", *device);
}

bool isPinned(const Tensor& self, std::optional<Device> device) {
  checkDevice(device);
  meta::checkDefined(self);
  return self.is_cpu() && self.storage()->nbytes() > 0 && pinned_memory.holds(self.storage()->data());
}

Tensor pinMemory(const Tensor& self, std::optional<Device> device) {
  if (isPinned(self, device)) return self;
  BOXCAR_CHECK(self.is_cpu(), "pin_memory(): only memory of the CPU can be pinned, but the tensor is on '{}'",
               self.device());
  Tensor pinned = emptyPinned(boxcar::empty_like(self));
  copyElements(pinned, self);
  return pinned;
}

}  // namespace

Tensor emptyPinned(const Tensor& tensor) {
  BOXCAR_CHECK(tensor.is_cpu(), "pin_memory=True: only memory of the CPU can be pinned, not that of '{}'",
               tensor.device());
  return Tensor(makeIntrusive<TensorImpl>(pinned_memory.allocate(tensor.storage()->nbytes()), tensor.scalar_type(),
                                          tensor.sizes(), tensor.strides(), 0));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("is_pinned", BOXCAR_FN(isPinned));
  m.impl("pin_memory", BOXCAR_FN(pinMemory));
}

}  // namespace boxcar::native
