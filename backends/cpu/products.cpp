#include <boxcar/backends/cpu/gemm.h>
#include <boxcar/backends/cpu/library_gemm.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/thin_halves.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/products.h>
#include <boxcar/ivalue/stop_request.h>

#include <algorithm>

namespace boxcar::cpu {
namespace {

// Matrices with at least this many multiplications keep all threads busy one by one.
constexpr int64_t kLargeProduct = int64_t{128} * 128 * 128;

// Returns columns of [a], or rows of [b]: [count] from [first] on, along dimension [dim].
Tensor sliceOf(const Tensor& matrices, size_t dim, int64_t first, int64_t count) {
  DimVector sizes = toDimVector(matrices.sizes());
  sizes[dim] = count;
  return matrices.view(sizes, matrices.strides(), matrices.storage_offset() + first * matrices.strides()[dim]);
}

// For sums too long to hold the operands as float32; calls checkStop() between parts.
void multiplyHalvesInParts(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha,
                           const Scalar& beta) {
  constexpr int64_t kPart = int64_t{1} << 20;
  const auto rank = static_cast<size_t>(a.dim());
  const int64_t k = a.sizes().back();
  const Tensor wide =
      beta != Scalar(0) ? convertTo(out, ScalarType::Float) : Tensor::allocate(out.sizes(), ScalarType::Float);
  for (int64_t first = 0; first < k; first += kPart) {
    const int64_t count = std::min(kPart, k - first);
    multiplyInto(wide, convertTo(sliceOf(a, rank - 1, first, count), ScalarType::Float),
                 convertTo(sliceOf(b, rank - 2, first, count), ScalarType::Float), alpha,
                 first == 0 ? beta : Scalar(1));
    checkStop();
  }
  copyElements(out, wide);
}

// Returns whether it did. Conversions and libraries would take longer than to read [b].
bool multiplyThinHalves(const Tensor& out, const Tensor& a, const Tensor& b, float alpha, float beta) {
  if (out.dim() != 2 || !suitsThinHalves(out.sizes()[0], b)) return false;
  Tensor sums = Tensor::allocate(out.sizes(), ScalarType::Float);
  auto* const elements = sums.mutable_data_ptr<float>();
  if (beta == 0) {
    std::fill_n(elements, sums.numel(), 0.0f);
  } else {
    copyElements(sums, out);
    for (int64_t i = 0; i < sums.numel(); ++i) elements[i] *= beta;
  }
  addThinHalves(sums, a, b, alpha);
  copyElements(out, sums);
  return true;
}

// Multiplies float16 and bfloat16 matrices in float32.
void multiplyHalves(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha, const Scalar& beta) {
  const bool reads_out = beta != Scalar(0);
  const int64_t k = a.sizes().back();
  if (k > kLongSum) [[unlikely]]
    return multiplyHalvesInParts(out, a, b, alpha, beta);
  if (multiplyThinHalves(out, a, b, alpha.to<float>(), beta.to<float>())) return;
  if (out.scalar_type() == ScalarType::BFloat16 && !reads_out && alpha == Scalar(1) &&
      multiplyBFloat16ByOneDnn(out, a, b)) {
    return;
  }
  const Tensor wide = reads_out ? convertTo(out, ScalarType::Float) : Tensor::allocate(out.sizes(), ScalarType::Float);
  multiplyInto(wide, convertTo(a, ScalarType::Float), convertTo(b, ScalarType::Float), alpha, beta);
  copyElements(out, wide);
}

int64_t batchStep(const Tensor& tensor) { return tensor.dim() == 3 ? tensor.strides()[0] : 0; }

// Returns all matrices of [tensor] below each other, if they lie so: the step between rows; 0 otherwise.
int64_t stepOfAllRows(const Tensor& tensor) {
  const int64_t rows = tensor.sizes()[1];
  if (rows == 1) return tensor.strides()[0];
  return tensor.strides()[0] == rows * tensor.strides()[1] ? tensor.strides()[1] : 0;
}

// Products of a column and a row each, which are written once: out = alpha * a * b + beta * out.
template <class T>
void multiplyVectors(int64_t m, int64_t n, T alpha, Matrix<const T> a, Matrix<const T> b, T beta, Matrix<T> out) {
  for (int64_t i = 0; i < m; ++i) {
    const T factor = a.at(i, 0);
    const T* const row = &b.at(0, 0);
    T* const target = &out.at(i, 0);
    if (beta == T(0) && alpha == T(1)) {
      for (int64_t j = 0; j < n; ++j) target[j] = factor * row[j];
    } else if (beta == T(0)) {
      for (int64_t j = 0; j < n; ++j) target[j] = alpha * (factor * row[j]);
    } else {
      for (int64_t j = 0; j < n; ++j) target[j] = alpha * (factor * row[j]) + beta * target[j];
    }
  }
}

void multiply(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha, const Scalar& beta) {
  const ScalarType type = out.scalar_type();
  if (type == ScalarType::Half || type == ScalarType::BFloat16) return multiplyHalves(out, a, b, alpha, beta);
  const auto rank = static_cast<size_t>(out.dim());
  const int64_t m = out.sizes()[rank - 2];
  const int64_t n = out.sizes()[rank - 1];
  const int64_t k = a.sizes()[rank - 1];
  visitScalarType(kNumberTypes, type, "mm", [&]<class T>(std::type_identity<T>) {
    if constexpr (!kIsSmallFloat<T>) {
      const T factor = alpha.to<T>();
      const T kept = beta.to<T>();
      const auto run = [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          gemm<T>(m, n, k, factor, matrixOf<const T>(a, i * batchStep(a)), matrixOf<const T>(b, i * batchStep(b)), kept,
                  matrixOf<T>(out, i * batchStep(out)));
        }
      };
      if (rank == 2) return run(0, 1);
      if (batchStep(b) == 0 && stepOfAllRows(a) != 0 && stepOfAllRows(out) != 0) {
        // One matrix [b] for the whole batch, as an expanded one is: a single product.
        const Matrix<const T> first = matrixOf<const T>(a);
        return gemm<T>(out.sizes()[0] * m, n, k, factor,
                       {first.data, stepOfAllRows(a), first.column_step, first.is_conjugated}, matrixOf<const T>(b),
                       kept, {matrixOf<T>(out).data, stepOfAllRows(out), out.strides()[2]});
      }
      if constexpr (std::is_floating_point_v<T>) {
        if (k == 1 && (n == 1 || (b.strides()[2] == 1 && out.strides()[2] == 1))) {
          const int64_t grain = kParallelGrain / std::max<int64_t>(m * n, 1) + 1;
          return parallelFor(0, out.sizes()[0], grain, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              multiplyVectors<T>(m, n, factor, matrixOf<const T>(a, i * batchStep(a)),
                                 matrixOf<const T>(b, i * batchStep(b)), kept, matrixOf<T>(out, i * batchStep(out)));
            }
          });
        }
      }
      const int64_t work = std::max<int64_t>(m * n, 1) * std::max<int64_t>(k, 1);
      if (work >= kLargeProduct) {
        for (int64_t i = 0; i < out.sizes()[0]; ++i) {
          checkStop();
          run(i, i + 1);
        }
        return;
      }
      parallelFor(0, out.sizes()[0], kParallelGrain / work + 1, run);
    }
  });
}

void addTo(const Tensor& out, const Tensor& sum, const Tensor& a, const Tensor& b, const Scalar& alpha,
           const Scalar& beta) {
  if (beta != Scalar(0) && !out.is_same(sum)) copyElements(out, sum);
  multiply(out, a, b, alpha, beta);
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, multiplyMatrices, cpu::multiply)
BOXCAR_REGISTER_STUB(CPU, addProduct, cpu::addTo)

}  // namespace boxcar::native
