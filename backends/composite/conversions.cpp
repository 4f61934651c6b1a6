#include <boxcar/backends/composite/view_forms.h>
#include <boxcar/backends/meta/defined.h>
#include <boxcar/backends/meta/factories.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/host_copy.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <optional>

// Copies and conversions, built from `empty_like` and `copy_`.

namespace boxcar::composite {
namespace {

using OptionalType = std::optional<ScalarType>;
using OptionalLayout = std::optional<Layout>;
using OptionalDevice = std::optional<Device>;
using OptionalBool = std::optional<bool>;
using OptionalFormat = std::optional<MemoryFormat>;

Tensor toCopy(const Tensor& self, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
              OptionalBool pin_memory, bool non_blocking, OptionalFormat memory_format) {
  Tensor result = boxcar::empty_like(self, dtype, layout, device, pin_memory, memory_format);
  return boxcar::copy_(result, self, non_blocking);
}

Tensor clone(const Tensor& self, OptionalFormat memory_format) {
  Tensor result = boxcar::empty_like(self, std::nullopt, std::nullopt, std::nullopt, std::nullopt, memory_format);
  return boxcar::copy_(result, self);
}

// A device without an index stands for any device of its type.
bool isOn(const Tensor& self, Device device) {
  return self.device() == device || (!device.has_index() && self.device().type() == device.type());
}

bool hasFormat(const Tensor& self, MemoryFormat format) {
  if (format == MemoryFormat::Preserve) return true;
  if (format == MemoryFormat::Contiguous) return self.is_contiguous();
  const DimVector wanted = meta::stridesIn(format, self.sizes());
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (self.sizes()[i] != 1 && self.strides()[i] != wanted[i]) return false;
  }
  return true;
}

// Returns [self] itself if it already has the requested properties.
Tensor convert(const Tensor& self, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
               OptionalBool pin_memory, bool non_blocking, bool copy, OptionalFormat memory_format) {
  meta::checkDefined(self);
  meta::checkProperties(layout, pin_memory);
  const bool same = layout.value_or(self.layout()) == self.layout() &&
                    dtype.value_or(self.scalar_type()) == self.scalar_type() &&
                    isOn(self, device.value_or(self.device())) && (!memory_format || hasFormat(self, *memory_format));
  if (same && !copy) return self;
  return boxcar::_to_copy(self, dtype, layout, device, pin_memory, non_blocking, memory_format);
}

Tensor toDtypeLayout(const Tensor& self, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
                     OptionalBool pin_memory, bool non_blocking, bool copy, OptionalFormat memory_format) {
  return convert(self, dtype, layout, device, pin_memory, non_blocking, copy, memory_format);
}
Tensor toDtype(const Tensor& self, ScalarType dtype, bool non_blocking, bool copy, OptionalFormat memory_format) {
  return convert(self, dtype, std::nullopt, std::nullopt, std::nullopt, non_blocking, copy, memory_format);
}
Tensor toDevice(const Tensor& self, Device device, ScalarType dtype, bool non_blocking, bool copy,
                OptionalFormat memory_format) {
  return convert(self, dtype, std::nullopt, device, std::nullopt, non_blocking, copy, memory_format);
}
Tensor toOther(const Tensor& self, const Tensor& other, bool non_blocking, bool copy, OptionalFormat memory_format) {
  return convert(self, other.scalar_type(), std::nullopt, other.device(), std::nullopt, non_blocking, copy,
                 memory_format);
}
Tensor typeAs(const Tensor& self, const Tensor& other) { return toOther(self, other, false, false, std::nullopt); }

Tensor contiguous(const Tensor& self, MemoryFormat memory_format) {
  meta::checkDefined(self);
  BOXCAR_CHECK(memory_format != MemoryFormat::Preserve,
               "preserve memory format is unsupported by the contiguous operator");
  return hasFormat(self, memory_format) ? self : boxcar::clone(self, memory_format);
}

// Like PyTorch, takes the preserved format as the contiguous one; no format fits tensors of another rank than its own.
bool symIsContiguous(const Tensor& self, MemoryFormat memory_format) {
  meta::checkDefined(self);
  switch (memory_format) {
    case MemoryFormat::ChannelsLast: return self.dim() == 4 && hasFormat(self, memory_format);
    case MemoryFormat::ChannelsLast3d: return self.dim() == 5 && hasFormat(self, memory_format);
    default: return self.is_contiguous();
  }
}

Tensor functionalCopy(const Tensor& self, const Tensor& src, bool non_blocking) {
  meta::checkDefined(self);
  meta::checkDefined(src);
  Tensor result = cloneWithStrides(self);
  return boxcar::copy_(result, src, non_blocking);
}

Tensor copyToHost(const Tensor& tensor) {
  if (tensor.is_mkldnn()) return boxcar::_to_dense(tensor.shallowCopy());
  static const OperatorHandle copy = Dispatcher::singleton().findSchemaOrThrow("aten::copy_", "");
  if (!copy.hasComputedKernelForDispatchKey(toDispatchKey(tensor.device().type()))) return Tensor();
  return boxcar::to(tensor, std::nullopt, std::nullopt, Device(DeviceType::CPU));
}

Scalar item(const Tensor& self) {
  BOXCAR_CHECK(self.numel() == 1, "a Tensor with {} elements cannot be converted to Scalar", self.numel());
  return boxcar::_local_scalar_dense(self);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("_to_copy", BOXCAR_FN(toCopy));
  m.impl("clone", BOXCAR_FN(clone));
  m.impl("copy", BOXCAR_FN(functionalCopy));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  setHostCopy(&copyToHost);
  m.impl("to.dtype", BOXCAR_FN(toDtype));
  m.impl("to.device", BOXCAR_FN(toDevice));
  m.impl("to.dtype_layout", BOXCAR_FN(toDtypeLayout));
  m.impl("to.other", BOXCAR_FN(toOther));
  m.impl("type_as", BOXCAR_FN(typeAs));
  m.impl("contiguous", BOXCAR_FN(contiguous));
  m.impl("sym_is_contiguous", BOXCAR_FN(symIsContiguous));
  m.impl("item", BOXCAR_FN(item));
}

}  // namespace boxcar::composite
