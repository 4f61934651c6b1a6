#include <boxcar/backends/cpu/copy.h>
#include <boxcar/backends/cpu/iterator.h>
#include <boxcar/backends/shape/join.h>
#include <boxcar/dispatcher/library.h>

namespace boxcar::cpu {
namespace {

Tensor cat(TensorList tensors, int64_t dim) {
  for (const Tensor& tensor : tensors) checkOnCpu(tensor);
  const shape::Joined joined = shape::joinAlong(tensors, dim);
  Tensor out = Tensor::allocate(joined.sizes, joined.dtype);
  DimVector sizes = joined.sizes;
  int64_t offset = 0;
  for (const Tensor& tensor : tensors) {
    if (shape::isLegacyEmpty(tensor)) continue;
    sizes[joined.dim] = tensor.sizes()[joined.dim];
    copyElements(out.view(sizes, out.strides(), offset), tensor);
    offset += sizes[joined.dim] * out.strides()[joined.dim];
  }
  return out;
}

Tensor& catOut(TensorList tensors, int64_t dim, Tensor& out) { return writeResult(out, cat(tensors, dim)); }

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("cat", BOXCAR_FN(cat));
  m.impl("cat.out", BOXCAR_FN(catOut));
}

}  // namespace boxcar::cpu
