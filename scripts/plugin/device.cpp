// A device of its own, "privateuseone": its memory, and the kernels without which no tensor is made, filled, moved or
// added there. It is a make-believe one, whose memory is the host's and whose work the CPU's kernels do.

#include <boxcar/boxcar.h>
#include <boxcar/ops.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>

namespace sample {
namespace {

using namespace boxcar;

constexpr Device kDevice(DeviceType::PrivateUse1, 0);

// ---- Memory ----

void* allocate(size_t bytes, DeviceIndex) {
  void* memory = std::malloc(bytes);
  BOXCAR_CHECK(memory != nullptr, "device '{}' has no {} bytes left", kDevice, bytes);
  return memory;
}

void deallocate(void* memory, size_t, DeviceIndex) { std::free(memory); }

constexpr Allocator kAllocator = {allocate, deallocate};

// ---- Kernels ----

// What a real device does with its own code the CPU does here: a CPU tensor over the same memory, good as long as
// [tensor] is.
Tensor onHost(const Tensor& tensor) {
  if (tensor.is_cpu()) return tensor;
  const Storage& memory = tensor.storage();
  return Tensor(
      makeIntrusive<TensorImpl>(StorageImpl::wrap(memory->data(), memory->nbytes(), DeviceType::CPU, nullptr, nullptr),
                                tensor.scalar_type(), tensor.sizes(), tensor.strides(), tensor.storage_offset()));
}

void checkDevice(std::optional<Device> device) {
  BOXCAR_CHECK(!device || !device->has_index() || *device == kDevice, "there is no device '{}', only '{}'", *device,
               kDevice);
}

Tensor empty(std::span<const int64_t> size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
             std::optional<Device> device, std::optional<bool> pin_memory, std::optional<MemoryFormat> memory_format) {
  checkDevice(device);
  BOXCAR_CHECK(layout.value_or(Layout::Strided) == Layout::Strided && !pin_memory.value_or(false) &&
                   memory_format.value_or(MemoryFormat::Contiguous) == MemoryFormat::Contiguous,
               "tensors on device '{}' are strided, contiguous and not pinned", kDevice);
  return Tensor::allocate(size, dtype.value_or(ScalarType::Float), kDevice);
}

Tensor emptyStrided(std::span<const int64_t> size, std::span<const int64_t> stride, std::optional<ScalarType> dtype,
                    std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  // As many elements as the same tensor has on the host.
  const Tensor host = boxcar::empty_strided(size, stride, dtype, layout, DeviceType::CPU, pin_memory);
  const auto elements = static_cast<int64_t>(host.storage()->nbytes() / host.itemsize());
  return empty(std::span(&elements, 1), host.scalar_type(), layout, device, pin_memory, std::nullopt)
      .view(size, stride, 0);
}

// Of two backends the one with the higher key answers, and the CPU has the lowest: this copies within the device, to it
// and from it.
Tensor& copy(Tensor& self, const Tensor& src, bool non_blocking) {
  for (const Tensor& tensor : {self, src}) {
    BOXCAR_CHECK(tensor.is_cpu() || tensor.device() == kDevice,
                 "cannot copy from device '{}' to '{}'; copy to 'cpu' first", src.device(), self.device());
  }
  Tensor target = onHost(self);
  boxcar::copy_(target, onHost(src), non_blocking);
  return self;
}

Tensor& fill(Tensor& self, const Scalar& value) {
  Tensor target = onHost(self);
  boxcar::fill_(target, value);
  return self;
}

// A copy of [host] on the device.
Tensor moved(const Tensor& host) {
  Tensor result = Tensor::allocate(host.sizes(), host.scalar_type(), kDevice);
  return copy(result, host, false);
}

// A CPU tensor without dimensions is a number, which goes with any device.
Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  for (const Tensor& tensor : {self, other}) {
    BOXCAR_CHECK(tensor.device() == kDevice || (tensor.is_cpu() && tensor.dim() == 0),
                 "add: one tensor is on device '{}' and the other on '{}'; move one with to()", self.device(),
                 other.device());
  }
  return moved(boxcar::add(onHost(self), onHost(other), alpha));
}

Tensor addNumber(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return moved(boxcar::add(onHost(self), other, alpha));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, PrivateUse1, m) {
  setAllocator(DeviceType::PrivateUse1, &kAllocator);
  m.impl("empty.memory_format", BOXCAR_FN(empty));
  m.impl("empty_strided", BOXCAR_FN(emptyStrided));
  m.impl("copy_", BOXCAR_FN(copy));
  m.impl("fill_.Scalar", BOXCAR_FN(fill));
  m.impl("add.Tensor", BOXCAR_FN(add));
  m.impl("add.Scalar", BOXCAR_FN(addNumber));
}

}  // namespace sample
