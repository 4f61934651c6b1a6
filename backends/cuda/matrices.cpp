#include <boxcar/backends/cuda/matrix_kernels.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/sequences.h>
#include <boxcar/backends/native/triangles.h>

#include <algorithm>

namespace boxcar::cuda {
namespace {

void fillSequence(const Tensor& out, const native::Sequence& sequence) {
  module().sequence(out.data_ptr(), out.scalar_type(), out.numel(), sequence);
}

void writeTriangle(const Tensor& out, const Tensor& self, int64_t diagonal, native::Triangle triangle) {
  const size_t batch_rank = out.sizes().size() - 2;
  const auto itemsize = static_cast<int64_t>(out.itemsize());
  StridedLayout batches(out.sizes().first(batch_rank));
  for (const Tensor* tensor : {&out, &self}) {
    batches.add(tensor->sizes().first(batch_rank), tensor->strides().first(batch_rank), itemsize);
  }
  batches.prepare();
  TriangleLaunch launch{};
  launch.out = static_cast<char*>(out.data_ptr());
  launch.in = static_cast<const char*>(self.data_ptr());
  launch.itemsize = out.itemsize();
  launch.batches = &batches;
  launch.rows = out.sizes()[batch_rank];
  launch.columns = out.sizes()[batch_rank + 1];
  for (size_t i = 0; i < 2; ++i) {
    launch.steps[0][i] = out.strides()[batch_rank + i] * itemsize;
    launch.steps[1][i] = self.strides()[batch_rank + i] * itemsize;
  }
  // Diagonals outside the matrix are equivalent to those at its corners.
  launch.diagonal = std::clamp(diagonal, -launch.rows, launch.columns);
  launch.lower = triangle == native::Triangle::kLower;
  module().triangle(launch);
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::fillSequence, fillSequence)
BOXCAR_REGISTER_STUB(CUDA, native::writeTriangle, writeTriangle)

}  // namespace boxcar::cuda
