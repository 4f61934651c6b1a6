#include <boxcar/backends/meta/defined.h>
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

Tensor liftFresh(const Tensor& self) { return boxcar::alias(self); }
Tensor liftFreshCopy(const Tensor& self) { return boxcar::clone(self, MemoryFormat::Contiguous); }

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("resize_", BOXCAR_FN(resizeTensor));
  m.impl("resize_as_", BOXCAR_FN(resizeAs));
  m.impl("lift_fresh", BOXCAR_FN(liftFresh));
  m.impl("lift_fresh_copy", BOXCAR_FN(liftFreshCopy));
}

}  // namespace boxcar::composite
