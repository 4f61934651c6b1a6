#include <boxcar/backends/meta/factories.h>
#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/meta/output.h>
#include <boxcar/backends/meta/promotion.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/factories.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/pinned_memory.h>
#include <boxcar/backends/native/pointwise.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <optional>
#include <span>

namespace boxcar::native {

constinit DeviceStub<ZeroFunction> zeroBytes("zero_");

namespace {

using IntSpan = std::span<const int64_t>;

Device deviceOr(std::optional<Device> device) {
  const Device wanted = device.value_or(Device(DeviceType::CPU));
  return wanted.is_cuda() ? completeDevice(wanted) : wanted;
}

Tensor pinnedIf(std::optional<bool> pin_memory, Tensor tensor) {
  if (pin_memory.value_or(false)) return emptyPinned(tensor);
  return tensor;
}

Tensor empty(IntSpan size, std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device,
             std::optional<bool> pin_memory, std::optional<MemoryFormat> memory_format) {
  meta::checkSizes(size);
  if (layout == Layout::Mkldnn) {
    return redispatch::empty(DispatchKeySet(DispatchKey::MkldnnCPU), size, dtype, layout, device, pin_memory,
                             memory_format);
  }
  meta::checkProperties(layout, false);
  const ScalarType type = dtype.value_or(meta::kDefaultDtype);
  if (memory_format.value_or(MemoryFormat::Contiguous) == MemoryFormat::Contiguous)
    return pinnedIf(pin_memory, Tensor::allocate(size, type, deviceOr(device)));
  return pinnedIf(pin_memory,
                  meta::allocateStrided(size, meta::stridesIn(*memory_format, size), type, deviceOr(device)));
}

Tensor emptyStrided(IntSpan size, IntSpan stride, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                    std::optional<Device> device, std::optional<bool> pin_memory) {
  meta::checkSizes(size);
  meta::checkProperties(layout, false);
  BOXCAR_CHECK(size.size() == stride.size(), "mismatch in length of strides and shape: strides [{}], shape [{}]",
               fmt::join(stride, ", "), fmt::join(size, ", "));
  const ScalarType type = dtype.value_or(meta::kDefaultDtype);
  int64_t reached = 1;
  for (size_t i = 0; i < size.size(); ++i) {
    BOXCAR_CHECK(stride[i] >= 0, "empty_strided(): strides must not be negative, but they are [{}]",
                 fmt::join(stride, ", "));
    int64_t extent = 0;
    const bool overflow = size[i] > 0 && (__builtin_mul_overflow(size[i] - 1, stride[i], &extent) ||
                                          __builtin_add_overflow(reached, extent, &reached));
    BOXCAR_CHECK(!overflow, "a tensor of sizes [{}] and strides [{}] is too large", fmt::join(size, ", "),
                 fmt::join(stride, ", "));
  }
  const int64_t elements[] = {numelOf(size) == 0 ? 0 : reached};
  Tensor result = Tensor::allocate(elements, type, deviceOr(device)).view(size, stride, 0);
  result.unsafeGetTensorImpl()->clear_base();  // nobody else has the memory
  return pinnedIf(pin_memory, std::move(result));
}

Tensor& emptyOut(IntSpan size, std::optional<MemoryFormat> memory_format, Tensor& out) {
  checkDense(out);
  meta::checkSizes(size);
  const DimVector strides = meta::stridesIn(memory_format.value_or(MemoryFormat::Contiguous), size);
  resizeOutput({out, size, strides, out.scalar_type(), out.device()});
  if (memory_format.has_value()) out.unsafeGetTensorImpl()->setShape(size, strides, out.storage_offset());
  return out;
}

// The result has the type of the filled tensor, as there are no inputs.
Tensor& fillWith(Tensor& self, const Scalar& value) {
  checkDense(self);
  checkFits(value, self.scalar_type());
  if (!self.is_meta() && self.numel() > 0) {
    const StridedOperand operand{self.data_ptr(), self.sizes(), self.strides(), self.itemsize()};
    runPointwise(self.device(), {Functor::kFill, self.scalar_type(), &value, 1}, &operand);
  }
  return self;
}

Tensor& fillTensor(Tensor& self, const Tensor& value) {
  checkDense(self);
  commonDevice({&self, &value});
  if (value.is_meta()) meta::checkSameDevice(self.device(), value.device());
  BOXCAR_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with {} dimensions.",
               value.dim());
  if (self.is_meta()) return self;
  if (!value.is_cuda()) return fillWith(self, loadNumber(value.data_ptr(), value.scalar_type()));
  copyElements(self, value);
  return self;
}

Tensor& zero(Tensor& self) {
  checkDense(self);
  if (!meta::isDense(self.sizes(), self.strides())) return fillWith(self, 0);
  if (!self.is_meta() && self.numel() > 0) zeroBytes(self.device(), self.data_ptr(), self.nbytes());
  return self;
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, runPointwise, copyOnDevice, zeroBytes) {
  m.impl("empty.memory_format", BOXCAR_FN(empty));
  m.impl("empty.out", BOXCAR_FN(emptyOut));
  m.impl("empty_strided", BOXCAR_FN(emptyStrided));
  m.impl("fill_.Scalar", BOXCAR_FN(fillWith));
  m.impl("fill_.Tensor", BOXCAR_FN(fillTensor));
  m.impl("zero_", BOXCAR_FN(zero));
}

}  // namespace boxcar::native
