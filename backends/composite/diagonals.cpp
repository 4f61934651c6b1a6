#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/meta/output.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/stop_request.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <optional>
#include <span>

// Extracting diagonals from matrices and inserting them.

namespace boxcar::composite {
namespace {

Tensor diagEmbed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  BOXCAR_CHECK(self.dim() > 0, "diag_embed(): input must have one dimension at least, but it has none");
  const int64_t rank = self.dim() + 1;
  const int64_t first = wrapDimension(dim1, rank);
  const int64_t second = wrapDimension(dim2, rank);
  BOXCAR_CHECK(first != second, "diagonal dimensions cannot be identical {}, {}", dim1, dim2);
  int64_t length = self.size(-1);
  const bool overflow =
      offset < 0 ? __builtin_sub_overflow(length, offset, &length) : __builtin_add_overflow(length, offset, &length);
  BOXCAR_CHECK(!overflow, "diag_embed(): offset {} is too large", offset);
  DimVector sizes = toDimVector(self.sizes().first(self.sizes().size() - 1));
  sizes.insert(sizes.begin() + std::min(first, second), length);
  sizes.insert(sizes.begin() + std::max(first, second), length);
  Tensor result = boxcar::zeros(sizes, self.scalar_type(), self.layout(), self.device());
  Tensor diagonal = boxcar::diagonal(result, offset, first, second);
  boxcar::copy_(diagonal, self);
  return result;
}
Tensor& diagEmbedOut(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2, Tensor& out) {
  return writeSameType(out, diagEmbed(self, offset, dim1, dim2));
}

// Returns the diagonal of a matrix, or the matrix with a given diagonal.
Tensor diag(const Tensor& self, int64_t diagonal) {
  BOXCAR_CHECK(self.dim() == 1 || self.dim() == 2, "diag(): Supports 1D or 2D tensors. Got {}D", self.dim());
  if (self.dim() == 1) return boxcar::diag_embed(self, diagonal);
  return boxcar::clone(boxcar::diagonal(self, diagonal), MemoryFormat::Contiguous);
}
Tensor& diagOut(const Tensor& self, int64_t diagonal, Tensor& out) {
  return writeSameType(out, boxcar::diag(self, diagonal));
}

Tensor diagFlat(const Tensor& self, int64_t offset) { return boxcar::diag(boxcar::ravel(self), offset); }

Tensor& fillDiagonal(Tensor& self, const Scalar& fill_value, bool wrap) {
  const std::span<const int64_t> sizes = self.sizes();
  BOXCAR_CHECK(sizes.size() >= 2, "fill_diagonal_: expected at least two dimensions, but self has {}", sizes.size());
  BOXCAR_CHECK(sizes.size() == 2 || std::ranges::count(sizes, sizes[0]) == self.dim(),
               "fill_diagonal_: all sizes of a tensor of more than two dimensions must be equal, but got {}",
               meta::listOf(sizes));
  meta::checkNoInternalOverlap(self);
  if (self.numel() == 0) return self;
  const int64_t rows = sizes[0];
  // The diagonal of a square starts at [row]; below it, one row is left out.
  const int64_t step = wrap && sizes.size() == 2 ? sizes[1] + 1 : rows;
  for (int64_t row = 0; row < rows; row += step) {
    checkStop();
    Tensor diagonal = boxcar::narrow(self, 0, row, rows - row);
    while (diagonal.dim() > 1) diagonal = boxcar::diagonal(diagonal, 0, 0, -1);
    boxcar::fill_(diagonal, fill_value);
  }
  return self;
}

Tensor trace(const Tensor& self) {
  BOXCAR_CHECK(self.dim() == 2, "trace: expected a matrix, but got tensor with dim {}", self.dim());
  return boxcar::sum(boxcar::diagonal(self));
}

Tensor traceBackward(const Tensor& grad, std::span<const int64_t> sizes) {
  BOXCAR_CHECK(sizes.size() == 2, "trace_backward: expected the sizes of a matrix, but got {} sizes", sizes.size());
  BOXCAR_CHECK(grad.dim() == 0, "trace_backward: grad must have no dimensions, as a trace has, but it has {}",
               grad.dim());
  const Tensor is_diagonal = boxcar::eye(sizes[0], sizes[1], ScalarType::Bool, std::nullopt, grad.device());
  return boxcar::where(is_diagonal, grad, boxcar::zeros_like(grad));
}

Tensor& eyeRowsColumnsOut(int64_t n, int64_t m, Tensor& out) {
  BOXCAR_CHECK(n >= 0, "n must be greater or equal to 0, got {}", n);
  BOXCAR_CHECK(m >= 0, "m must be greater or equal to 0, got {}", m);
  const int64_t sizes[] = {n, m};
  meta::checkOutput({out, sizes, {}, out.scalar_type(), out.device()});
  boxcar::empty_out(out, sizes);
  boxcar::zero_(out);
  Tensor diagonal = boxcar::diagonal(out);
  boxcar::fill_(diagonal, 1);
  return out;
}
Tensor& eyeOut(int64_t n, Tensor& out) { return eyeRowsColumnsOut(n, n, out); }

Tensor eyeRowsColumns(int64_t n, int64_t m, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                      std::optional<Device> device, std::optional<bool> pin_memory) {
  Tensor result = boxcar::empty({0}, dtype, layout, device, pin_memory);
  return boxcar::eye_out(result, n, m);
}
Tensor eye(int64_t n, std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device,
           std::optional<bool> pin_memory) {
  return eyeRowsColumns(n, n, dtype, layout, device, pin_memory);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("diag_embed", BOXCAR_FN(diagEmbed));
  m.impl("diag_embed.out", BOXCAR_FN(diagEmbedOut));
  m.impl("diag.out", BOXCAR_FN(diagOut));
  m.impl("trace", BOXCAR_FN(trace));
  m.impl("eye", BOXCAR_FN(eye));
  m.impl("eye.m", BOXCAR_FN(eyeRowsColumns));
  m.impl("eye.out", BOXCAR_FN(eyeOut));
  m.impl("eye.m_out", BOXCAR_FN(eyeRowsColumnsOut));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("fill_diagonal_", BOXCAR_FN(fillDiagonal));
  m.impl("diag", BOXCAR_FN(diag));
  m.impl("diagflat", BOXCAR_FN(diagFlat));
  m.impl("trace_backward", BOXCAR_FN(traceBackward));
}

}  // namespace boxcar::composite
