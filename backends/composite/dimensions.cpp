#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/views.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

// Moving, adding and removing dimensions: alternative names and forms of permute, expand and view.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;

Tensor swapDims(const Tensor& self, int64_t dim0, int64_t dim1) { return boxcar::transpose(self, dim0, dim1); }

DimVector wrapped(IntSpan dims, int64_t rank, std::string_view name) {
  DimVector result;
  for (const int64_t dim : dims) {
    result.push_back(wrapDimension(dim, rank));
    BOXCAR_CHECK(std::ranges::count(result, result.back()) == 1, "movedim: repeated dim in `{}` ([{}])", name,
                 fmt::join(dims, ", "));
  }
  return result;
}

Tensor moveDims(const Tensor& self, IntSpan source, IntSpan destination) {
  BOXCAR_CHECK(source.size() == destination.size(),
               "movedim: Invalid source or destination dims: source ([{}] dims) should contain the same number of dims "
               "as destination ([{}] dims)",
               fmt::join(source, ", "), fmt::join(destination, ", "));
  const DimVector from = wrapped(source, self.dim(), "source");
  const DimVector to = wrapped(destination, self.dim(), "destination");
  if (self.dim() == 0) return boxcar::alias(self);
  // The other dimensions keep their order in the remaining places.
  DimVector order(self.sizes().size(), -1);
  for (size_t i = 0; i < from.size(); ++i) order[static_cast<size_t>(to[i])] = from[i];
  int64_t next = 0;
  for (int64_t& dim : order) {
    if (dim >= 0) continue;
    while (std::ranges::find(from, next) != from.end()) ++next;
    dim = next++;
  }
  return boxcar::permute(self, order);
}

Tensor moveDim(const Tensor& self, int64_t source, int64_t destination) {
  return moveDims(self, IntSpan(&source, 1), IntSpan(&destination, 1));
}

Tensor numpyTranspose(const Tensor& self) {
  DimVector order(self.sizes().size(), boost::container::default_init);
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(order.size() - 1 - i);
  return boxcar::permute(self, order);
}

Tensor transposedMatrices(const Tensor& self, std::string_view name) {
  BOXCAR_CHECK(self.dim() != 1, "tensor.{} is only supported on matrices or batches of matrices. Got 1-D tensor.",
               name);
  return self.dim() == 0 ? boxcar::alias(self) : boxcar::transpose(self, -2, -1);
}
Tensor matrixTranspose(const Tensor& self) { return transposedMatrices(self, "mT"); }
Tensor adjoint(const Tensor& self) {
  const Tensor transposed = transposedMatrices(self, "adjoint()");
  return self.is_complex() ? boxcar::conj(transposed) : transposed;
}

Tensor matrixH(const Tensor& self) {
  BOXCAR_CHECK(self.dim() == 2 || self.dim() == 0,
               "tensor.H is only supported on matrices (2-D tensors). Got {}-D tensor.", self.dim());
  return boxcar::adjoint(self);
}

Tensor unflatten(const Tensor& self, int64_t dim, IntSpan sizes) {
  const auto chosen = static_cast<size_t>(wrapDimension(dim, self.dim()));
  BOXCAR_CHECK(!sizes.empty(), "unflatten: sizes must be non-empty");
  const int64_t length = self.dim() == 0 ? 1 : self.sizes()[chosen];
  const DimVector parts = meta::inferSizes(sizes, length);
  DimVector result = toDimVector(self.sizes());
  const auto at = result.begin() + static_cast<std::ptrdiff_t>(chosen);
  result.insert(result.empty() ? at : result.erase(at), parts.begin(), parts.end());
  return boxcar::view(self, result);
}

Tensor ravel(const Tensor& self) { return boxcar::view(boxcar::contiguous(self), {self.numel()}); }

Tensor reshapeAs(const Tensor& self, const Tensor& other) { return boxcar::reshape(self, other.sizes()); }

Tensor broadcastTo(const Tensor& self, IntSpan size) { return boxcar::expand(self, size); }

std::vector<Tensor> broadcastTensors(TensorList tensors) {
  DimVector sizes;
  for (const Tensor& tensor : tensors) sizes = meta::broadcast(sizes, tensor.sizes());
  std::vector<Tensor> results;
  results.reserve(tensors.size());
  for (const Tensor& tensor : tensors) results.push_back(boxcar::expand(tensor, sizes));
  return results;
}

Tensor atLeast1d(const Tensor& self) { return self.dim() == 0 ? boxcar::reshape(self, {1}) : self; }

Tensor atLeast2d(const Tensor& self) {
  if (self.dim() == 0) return boxcar::reshape(self, {1, 1});
  return self.dim() == 1 ? boxcar::unsqueeze(self, 0) : self;
}

Tensor atLeast3d(const Tensor& self) {
  if (self.dim() == 0) return boxcar::reshape(self, {1, 1, 1});
  if (self.dim() == 1) return boxcar::unsqueeze(boxcar::unsqueeze(self, 0), -1);
  return self.dim() == 2 ? boxcar::unsqueeze(self, -1) : self;
}

template <Tensor (*atLeast)(const Tensor&)>
std::vector<Tensor> ofEach(TensorList tensors) {
  std::vector<Tensor> results;
  results.reserve(tensors.size());
  for (const Tensor& tensor : tensors) results.push_back(atLeast(tensor));
  return results;
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("swapaxes", BOXCAR_FN(swapDims));
  m.impl("swapdims", BOXCAR_FN(swapDims));
  m.impl("movedim.intlist", BOXCAR_FN(moveDims));
  m.impl("movedim.int", BOXCAR_FN(moveDim));
  m.impl("moveaxis.intlist", BOXCAR_FN(moveDims));
  m.impl("moveaxis.int", BOXCAR_FN(moveDim));
  m.impl("numpy_T", BOXCAR_FN(numpyTranspose));
  m.impl("mT", BOXCAR_FN(matrixTranspose));
  m.impl("adjoint", BOXCAR_FN(adjoint));
  m.impl("mH", BOXCAR_FN(adjoint));
  m.impl("matrix_H", BOXCAR_FN(matrixH));
  m.impl("unflatten.int", BOXCAR_FN(unflatten));
  m.impl("ravel", BOXCAR_FN(ravel));
  m.impl("reshape_as", BOXCAR_FN(reshapeAs));
  m.impl("broadcast_to", BOXCAR_FN(broadcastTo));
  m.impl("broadcast_tensors", BOXCAR_FN(broadcastTensors));
  m.impl("atleast_1d", BOXCAR_FN(atLeast1d));
  m.impl("atleast_2d", BOXCAR_FN(atLeast2d));
  m.impl("atleast_3d", BOXCAR_FN(atLeast3d));
  m.impl("atleast_1d.Sequence", BOXCAR_FN(ofEach<atLeast1d>));
  m.impl("atleast_2d.Sequence", BOXCAR_FN(ofEach<atLeast2d>));
  m.impl("atleast_3d.Sequence", BOXCAR_FN(ofEach<atLeast3d>));
}

}  // namespace boxcar::composite
