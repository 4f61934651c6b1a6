#include <boxcar/backends/cuda/gemm.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/cuda/registration.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/products.h>
#include <boxcar/ops.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace boxcar::cuda {
namespace {

std::atomic<bool>& tf32() {
  static std::atomic<bool> allowed = [] {
    const char* value = std::getenv("BOXCAR_CUDA_TF32");
    return value != nullptr && std::strcmp(value, "1") == 0;
  }();
  return allowed;
}

// Rows or columns side by side, and none on top of each other: what cuBLAS reads.
bool isReadable(const Tensor& tensor) {
  const auto rank = static_cast<size_t>(tensor.dim());
  const auto takes = [&](size_t inner, size_t outer) {
    return tensor.strides()[inner] == 1 && tensor.strides()[outer] >= tensor.sizes()[inner] &&
           (rank == 2 || tensor.strides()[0] >= 0);
  };
  return takes(rank - 1, rank - 2) || takes(rank - 2, rank - 1);
}

MatrixOperand operandOf(const Tensor& tensor) {
  const auto rank = static_cast<size_t>(tensor.dim());
  return {tensor.data_ptr(), tensor.strides()[rank - 2], tensor.strides()[rank - 1],
          rank == 3 ? tensor.strides()[0] : 0};
}

void multiply(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha, const Scalar& beta) {
  const auto rank = static_cast<size_t>(out.dim());
  const int64_t k = a.sizes()[rank - 1];
  if (k == 0) {  // for which no algorithm is
    Tensor scaled = out;
    beta == Scalar(0) ? boxcar::zero_(scaled) : boxcar::mul_(scaled, beta);
    return;
  }
  const bool is_integer = isIntegralType(out.scalar_type(), /*includeBool=*/true);
  const auto readable = [&](const Tensor& tensor) {
    return is_integer || isReadable(tensor) ? tensor : dense::contiguousCopy(tensor);
  };
  const Tensor left = readable(a);
  const Tensor right = readable(b);
  const Tensor target = out.is_contiguous() ? out : dense::contiguousCopy(out);
  const GemmCall call{out.scalar_type(),
                      rank == 3 ? out.sizes()[0] : 1,
                      out.sizes()[rank - 2],
                      out.sizes()[rank - 1],
                      k,
                      operandOf(left),
                      operandOf(right),
                      operandOf(target),
                      alpha,
                      beta};
  if (is_integer) {
    module().multiply_integers(call);
  } else {
    module().multiply(call);
  }
  if (!target.is_same(out)) dense::copyElements(out, target);
}

}  // namespace

bool allowsTf32() { return tf32().load(std::memory_order_relaxed); }
void setAllowTf32(bool allow) { tf32().store(allow, std::memory_order_relaxed); }

BOXCAR_CUDA_FUNCTION(dense::multiplyMatrices, multiply)

}  // namespace boxcar::cuda
