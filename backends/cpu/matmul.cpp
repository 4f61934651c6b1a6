#include <boxcar/backends/cpu/copy.h>
#include <boxcar/backends/cpu/functors.h>
#include <boxcar/backends/cpu/gemm.h>
#include <boxcar/backends/cpu/iterator.h>
#include <boxcar/backends/shape/broadcast.h>
#include <boxcar/backends/shape/matrices.h>
#include <boxcar/dispatcher/library.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <type_traits>

namespace boxcar::cpu {
namespace {

constexpr auto kNumberTypes = kRealTypes + kComplexTypes;

// A tensor's last two dimensions, at [offset] elements from its first.
template <class T>
Matrix<T> matrixOf(const Tensor& tensor, int64_t offset = 0) {
  const auto strides = tensor.strides().last(2);
  return {static_cast<T*>(tensor.data_ptr()) + offset, strides[0], strides[1]};
}

// For the types that gemm has no kernels for.
template <class T>
void multiplySimply(int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b, T beta,
                    Matrix<T> c) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      T sum = T(0);
      for (int64_t p = 0; p < k; ++p) sum = addElements(sum, multiplyElements(a.at(i, p), b.at(p, j)));
      const T scaled = multiplyElements(alpha, sum);
      c.at(i, j) = beta == T(0) ? scaled : addElements(multiplyElements(beta, c.at(i, j)), scaled);
    }
  }
}

template <class T>
void multiply(int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b, T beta, Matrix<T> c) {
  if constexpr (std::is_floating_point_v<T>) {
    gemm<T>(m, n, k, alpha, a, b, beta, c);
  } else {
    multiplySimply(m, n, k, alpha, a, b, beta, c);
  }
}

// out = beta * out + alpha * a @ b for matrices of one type, or for batches of them (equal first dimensions).
// float16 and bfloat16 are computed in float32.
void multiplyInto(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha, const Scalar& beta) {
  const ScalarType type = out.scalar_type();
  if (type == ScalarType::Half || type == ScalarType::BFloat16) {
    const Tensor wide = convertTo(out, ScalarType::Float);
    multiplyInto(wide, convertTo(a, ScalarType::Float), convertTo(b, ScalarType::Float), alpha, beta);
    copyElements(out, wide);
    return;
  }
  const auto rank = static_cast<size_t>(out.dim());
  const int64_t m = out.sizes()[rank - 2];
  const int64_t n = out.sizes()[rank - 1];
  const int64_t k = a.sizes()[rank - 1];
  const int64_t batches = rank == 3 ? out.sizes()[0] : 1;
  const auto batchOffset = [rank](const Tensor& tensor, int64_t i) { return rank == 3 ? i * tensor.strides()[0] : 0; };
  visitScalarType(kNumberTypes, type, "mm", [&]<class T>(std::type_identity<T>) {
    if constexpr (!kIsSmallFloat<T>) {
      for (int64_t i = 0; i < batches; ++i) {
        multiply<T>(m, n, k, alpha.to<T>(), matrixOf<const T>(a, batchOffset(a, i)),
                    matrixOf<const T>(b, batchOffset(b, i)), beta.to<T>(), matrixOf<T>(out, batchOffset(out, i)));
      }
    }
  });
}

void checkAllOnCpu(std::initializer_list<const Tensor*> tensors) {
  for (const Tensor* tensor : tensors) checkOnCpu(*tensor);
}

Tensor mm(const Tensor& self, const Tensor& mat2) {
  checkAllOnCpu({&self, &mat2});
  shape::checkMm(self, mat2);
  const int64_t sizes[] = {self.sizes()[0], mat2.sizes()[1]};
  Tensor out = Tensor::allocate(sizes, self.scalar_type());
  multiplyInto(out, self, mat2, 1, 0);
  return out;
}
Tensor& mmOut(const Tensor& self, const Tensor& mat2, Tensor& out) { return writeResult(out, mm(self, mat2)); }

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  checkAllOnCpu({&self, &mat1, &mat2});
  shape::checkAddmm(mat1, mat2);
  BOXCAR_CHECK(self.scalar_type() == mat1.scalar_type(), "self and mat2 must have the same dtype, but got {} and {}",
               self.scalar_type(), mat2.scalar_type());
  const int64_t sizes[] = {mat1.sizes()[0], mat2.sizes()[1]};
  Tensor out = Tensor::allocate(sizes, self.scalar_type());
  const Tensor expanded = shape::expandTo(self, sizes);
  const bool reads_self = !(beta == Scalar(0));
  if (reads_self) copyElements(out, expanded);
  multiplyInto(out, mat1, mat2, alpha, beta);
  return out;
}
Tensor& addmmOut(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha,
                 Tensor& out) {
  return writeResult(out, addmm(self, mat1, mat2, beta, alpha));
}
Tensor& addmmInPlace(Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  const Tensor result = addmm(self, mat1, mat2, beta, alpha);
  BOXCAR_CHECK(std::ranges::equal(result.sizes(), self.sizes()),
               "addmm_: the result of size {}x{} does not fit self, which has {} dimensions and {} elements",
               result.sizes()[0], result.sizes()[1], self.dim(), self.numel());
  return writeResult(self, result);
}

Tensor bmm(const Tensor& self, const Tensor& mat2) {
  checkAllOnCpu({&self, &mat2});
  shape::checkBmm(self, mat2);
  const int64_t sizes[] = {self.sizes()[0], self.sizes()[1], mat2.sizes()[2]};
  Tensor out = Tensor::allocate(sizes, self.scalar_type());
  multiplyInto(out, self, mat2, 1, 0);
  return out;
}
Tensor& bmmOut(const Tensor& self, const Tensor& mat2, Tensor& out) { return writeResult(out, bmm(self, mat2)); }

// A vector as a matrix of one column, or one row.
Tensor asColumn(const Tensor& vector) {
  const int64_t sizes[] = {vector.numel(), 1};
  const int64_t strides[] = {vector.strides()[0], 1};
  return vector.view(sizes, strides, vector.storage_offset());
}
Tensor asRow(const Tensor& vector) {
  const int64_t sizes[] = {1, vector.numel()};
  const int64_t strides[] = {1, vector.strides()[0]};
  return vector.view(sizes, strides, vector.storage_offset());
}

Tensor mv(const Tensor& self, const Tensor& vec) {
  checkAllOnCpu({&self, &vec});
  shape::checkMv(self, vec);
  const int64_t sizes[] = {self.sizes()[0]};
  Tensor out = Tensor::allocate(sizes, self.scalar_type());
  multiplyInto(asColumn(out), self, asColumn(vec), 1, 0);
  return out;
}

Tensor dot(const Tensor& self, const Tensor& tensor) {
  checkAllOnCpu({&self, &tensor});
  shape::checkDot(self, tensor);
  const int64_t sizes[] = {1};
  const Tensor out = Tensor::allocate(sizes, self.scalar_type());
  multiplyInto(asColumn(out), asRow(self), asColumn(tensor), 1, 0);
  return out.view({}, {}, 0);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("mm", BOXCAR_FN(mm));
  m.impl("mm.out", BOXCAR_FN(mmOut));
  m.impl("addmm", BOXCAR_FN(addmm));
  m.impl("addmm.out", BOXCAR_FN(addmmOut));
  m.impl("addmm_", BOXCAR_FN(addmmInPlace));
  m.impl("bmm", BOXCAR_FN(bmm));
  m.impl("bmm.out", BOXCAR_FN(bmmOut));
  m.impl("mv", BOXCAR_FN(mv));
  m.impl("dot", BOXCAR_FN(dot));
}

}  // namespace boxcar::cpu
