#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/cuda/vector_kernels.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/native/cross.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/distances.h>
#include <boxcar/backends/native/products.h>
#include <boxcar/ops.h>

namespace boxcar::cuda {
namespace {

void cross(const Tensor& out, const Tensor& a, const Tensor& b, size_t dim) {
  DimVector sizes = toDimVector(out.sizes());
  sizes[dim] = 1;
  CrossLaunch launch{};
  launch.type = out.scalar_type();
  StridedLayout lines(sizes);
  const auto itemsize = static_cast<int64_t>(out.itemsize());
  const Tensor* const tensors[] = {&out, &a, &b};
  for (size_t i = 0; i < 3; ++i) {
    launch.data[i] = static_cast<char*>(tensors[i]->data_ptr());
    launch.steps[i] = tensors[i]->strides()[dim] * itemsize;
    lines.add(sizes, tensors[i]->strides(), itemsize);
  }
  lines.prepare();
  launch.lines = &lines;
  module().cross(launch);
}

// |x - y|^2 = |x|^2 + |y|^2 - 2 x y
void distancesByProduct(const Tensor& out, const Tensor& a, const Tensor& b) {
  const auto matrices = [](const Tensor& tensor) {
    const auto last = tensor.sizes().last(2);
    const int64_t sizes[] = {-1, last[0], last[1]};
    return boxcar::view(tensor, sizes);
  };
  const int64_t innermost[] = {-1};
  const Tensor x = matrices(a);
  const Tensor y = matrices(b);
  const Tensor squares_of_x = boxcar::sum(boxcar::mul(x, x), innermost, /*keepdim=*/true);
  const Tensor squares_of_y = boxcar::sum(boxcar::mul(y, y), innermost, /*keepdim=*/true);
  Tensor target = matrices(out);
  boxcar::add_out(target, squares_of_x, boxcar::transpose(squares_of_y, 1, 2));
  native::multiplyMatrices(out.device(), target, x, boxcar::transpose(y, 1, 2), -2, 1);
  boxcar::clamp_min_(target, 0);
  boxcar::sqrt_(target);
}

void distances(const Tensor& out, const Tensor& a, const Tensor& b, double p, bool by_product) {
  const ScalarType type = out.scalar_type();
  const int64_t m = a.sizes().last(2)[0];
  const int64_t n = b.sizes().last(2)[0];
  const int64_t depth = a.sizes().back();
  visitScalarType(kFullFloatTypes, type, "cdist", [](auto) {});
  if (by_product && depth > 0) return distancesByProduct(out, a, b);
  module().distances({a.data_ptr(), b.data_ptr(), out.data_ptr(), type, out.numel() / (m * n), m, n, depth, p});
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::crossLines, cross)
BOXCAR_REGISTER_STUB(CUDA, native::rowDistances, distances)

}  // namespace boxcar::cuda
