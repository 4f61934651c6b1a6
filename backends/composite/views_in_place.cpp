#include <boxcar/backends/meta/defined.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ops.h>

#include <optional>
#include <span>

// In-place views: the tensor itself takes the shape of the view that the operator without the underscore returns.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;

Tensor& become(Tensor& self, const Tensor& view) {
  self.unsafeGetTensorImpl()->setShape(view.sizes(), view.strides(), view.storage_offset());
  return self;
}

Tensor& asStrided(Tensor& self, IntSpan size, IntSpan stride, std::optional<int64_t> storage_offset) {
  return become(self, boxcar::as_strided(self, size, stride, storage_offset));
}
Tensor& transpose(Tensor& self, int64_t dim0, int64_t dim1) {
  return become(self, boxcar::transpose(self, dim0, dim1));
}
Tensor& t(Tensor& self) { return become(self, boxcar::t(self)); }
Tensor& squeeze(Tensor& self) { return become(self, boxcar::squeeze(self)); }
Tensor& squeezeDim(Tensor& self, int64_t dim) { return become(self, boxcar::squeeze(self, dim)); }
Tensor& squeezeDims(Tensor& self, IntSpan dim) { return become(self, boxcar::squeeze(self, dim)); }
Tensor& unsqueeze(Tensor& self, int64_t dim) { return become(self, boxcar::unsqueeze(self, dim)); }

Tensor& swapDimsInPlace(Tensor& self, int64_t dim0, int64_t dim1) { return boxcar::transpose_(self, dim0, dim1); }

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("as_strided_", BOXCAR_FN(asStrided));
  m.impl("transpose_", BOXCAR_FN(transpose));
  m.impl("t_", BOXCAR_FN(t));
  m.impl("squeeze_", BOXCAR_FN(squeeze));
  m.impl("squeeze_.dim", BOXCAR_FN(squeezeDim));
  m.impl("squeeze_.dims", BOXCAR_FN(squeezeDims));
  m.impl("unsqueeze_", BOXCAR_FN(unsqueeze));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("swapaxes_", BOXCAR_FN(swapDimsInPlace));
  m.impl("swapdims_", BOXCAR_FN(swapDimsInPlace));
}

}  // namespace boxcar::composite
