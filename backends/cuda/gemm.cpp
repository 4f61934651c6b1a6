#include <boxcar/backends/cuda/environment.h>
#include <boxcar/backends/cuda/gemm.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/products.h>
#include <boxcar/ops.h>

#include <atomic>

namespace boxcar::cuda {
namespace {

std::atomic<bool>& tf32() {
  static std::atomic<bool> allowed = isSwitchedOn("BOXCAR_CUDA_TF32");
  return allowed;
}

// Whether cuBLAS can read it: either rows or columns are contiguous, and no elements overlap.
bool isReadable(const Tensor& tensor) {
  const auto rank = static_cast<size_t>(tensor.dim());
  const auto takes = [&](size_t inner, size_t outer) {
    return tensor.strides()[inner] == 1 && tensor.strides()[outer] >= tensor.sizes()[inner] &&
           (rank == 2 || tensor.strides()[0] >= 0);
  };
  return takes(rank - 1, rank - 2) || takes(rank - 2, rank - 1);
}

MatrixOperand matrixOperand(const Tensor& tensor) {
  const auto rank = static_cast<size_t>(tensor.dim());
  return {tensor.data_ptr(), tensor.strides()[rank - 2], tensor.strides()[rank - 1],
          rank == 3 ? tensor.strides()[0] : 0};
}

bool isInteger(const Tensor& tensor) { return isIntegralType(tensor.scalar_type(), /*includeBool=*/true); }

// Computes out = beta * out + alpha * a @ b + bias, where the depth is not 0. Returns false, having done nothing, if
// the library cannot add the bias.
bool multiplyByKernels(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha, const Scalar& beta,
                       const void* bias) {
  const auto rank = static_cast<size_t>(out.dim());
  const auto readable = [&](const Tensor& tensor) {
    return isInteger(out) || isReadable(tensor) ? tensor : native::contiguousCopy(tensor);
  };
  const Tensor left = readable(a);
  const Tensor right = readable(b);
  const Tensor target = out.is_contiguous() ? out : native::contiguousCopy(out);
  const GemmCall call{out.scalar_type(),
                      rank == 3 ? out.sizes()[0] : 1,
                      out.sizes()[rank - 2],
                      out.sizes()[rank - 1],
                      a.sizes()[rank - 1],
                      matrixOperand(left),
                      matrixOperand(right),
                      matrixOperand(target),
                      alpha,
                      beta,
                      bias};
  if (isInteger(out)) {
    module().multiply_integers(call);
  } else if (!module().multiply(call)) {
    return false;
  }
  if (!target.is_same(out)) native::copyElements(out, target);
  return true;
}

void multiply(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha, const Scalar& beta) {
  if (a.sizes().back() > 0) {
    multiplyByKernels(out, a, b, alpha, beta, nullptr);
  } else {  // depth 0, for which there is no algorithm
    Tensor scaled = out;
    beta == Scalar(0) ? boxcar::zero_(scaled) : boxcar::mul_(scaled, beta);
  }
}

// Whether [sum] is a single row that is added to all rows of [out].
bool isRow(const Tensor& sum, const Tensor& out) {
  return out.dim() == 2 && isFloatingType(out.scalar_type()) && sum.sizes()[1] > 1 && sum.strides()[1] == 1 &&
         (sum.sizes()[0] == 1 || sum.strides()[0] == 0);
}

void addTo(const Tensor& out, const Tensor& sum, const Tensor& a, const Tensor& b, const Scalar& alpha,
           const Scalar& beta) {
  if (beta == Scalar(1) && !out.is_same(sum) && isRow(sum, out) && a.sizes().back() > 0 &&
      multiplyByKernels(out, a, b, alpha, 0, sum.data_ptr())) {
    return;
  }
  if (beta != Scalar(0) && !out.is_same(sum)) native::copyElements(out, sum);
  multiply(out, a, b, alpha, beta);
}

}  // namespace

bool allowsTf32() { return tf32().load(std::memory_order_relaxed); }
void setAllowTf32(bool allow) { tf32().store(allow, std::memory_order_relaxed); }

BOXCAR_REGISTER_STUB(CUDA, native::multiplyMatrices, multiply)
BOXCAR_REGISTER_STUB(CUDA, native::addProduct, addTo)

}  // namespace boxcar::cuda
