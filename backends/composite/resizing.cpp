#include <boxcar/backends/meta/defined.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/meta/layout.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <optional>
#include <span>

// Tensors that change their sizes in place, and tensors of programs' constants.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;
using OptionalFormat = std::optional<MemoryFormat>;

Tensor& resizeTensor(Tensor& self, IntSpan size, OptionalFormat memory_format) {
  BOXCAR_CHECK(memory_format != MemoryFormat::Preserve, "resize_: unsupported memory format {}", *memory_format);
  return boxcar::empty_out(self, size, memory_format);
}

Tensor& resizeAs(Tensor& self, const Tensor& the_template, OptionalFormat memory_format) {
  meta::checkDefined(the_template);
  if (memory_format != MemoryFormat::Preserve) return boxcar::resize_(self, the_template.sizes(), memory_format);
  boxcar::resize_(self, the_template.sizes(), std::nullopt);
  return boxcar::as_strided_(self, the_template.sizes(), meta::denseStrides(the_template));
}

// Gives [self] the memory of [source], from element [offset] of the storage on.
Tensor& takeMemory(Tensor& self, const Tensor& source, IntSpan size, IntSpan stride, int64_t offset) {
  meta::checkDefined(self);
  meta::checkDefined(source);
  BOXCAR_CHECK(source.scalar_type() == self.scalar_type() && source.device() == self.device(),
               "set_: expected a source of {} on {} like self, but got {} on {}", dtypeName(self.scalar_type()),
               self.device(), dtypeName(source.scalar_type()), source.device());
  self.unsafeGetTensorImpl()->setStorage(source.storage(), size, stride, offset);
  return self;
}

Tensor& setToNothing(Tensor& self) {
  const Tensor source = boxcar::empty({0}, self.scalar_type(), std::nullopt, self.device());
  return takeMemory(self, source, source.sizes(), source.strides(), 0);
}
Tensor& setToTensor(Tensor& self, const Tensor& source) {
  return takeMemory(self, source, source.sizes(), source.strides(), source.storage_offset());
}
// The offset counts from the first element of [source].
Tensor& setToPart(Tensor& self, const Tensor& source, int64_t storage_offset, IntSpan size, IntSpan stride) {
  BOXCAR_CHECK(source.is_contiguous(), "set_: expected a contiguous source");
  int64_t offset = 0;
  BOXCAR_CHECK(storage_offset >= 0 && !__builtin_add_overflow(storage_offset, source.storage_offset(), &offset),
               "set_: storage_offset {} is out of range", storage_offset);
  DimVector strides = toDimVector(stride);
  if (stride.empty()) {
    strides.resize(size.size());
    contiguousStrides(size, strides);
  }
  return takeMemory(self, source, size, strides, offset);
}

Tensor liftFresh(const Tensor& self) { return boxcar::alias(self); }
Tensor liftFreshCopy(const Tensor& self) { return boxcar::clone(self, MemoryFormat::Contiguous); }

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("resize_", BOXCAR_FN(resizeTensor));
  m.impl("resize_as_", BOXCAR_FN(resizeAs));
  m.impl("set_", BOXCAR_FN(setToNothing));
  m.impl("set_.source_Tensor", BOXCAR_FN(setToTensor));
  m.impl("set_.source_Tensor_storage_offset", BOXCAR_FN(setToPart));
  m.impl("lift_fresh", BOXCAR_FN(liftFresh));
  m.impl("lift_fresh_copy", BOXCAR_FN(liftFreshCopy));
}

}  // namespace boxcar::composite
