#pragma once

#include <boxcar/backends/cpu/gemm_kernels.h>
#include <boxcar/backends/cpu/matrix.h>
#include <boxcar/ivalue/cached_memory.h>

#include <cstddef>
#include <cstdint>

namespace boxcar::cpu {

// `gemm` (gemm.h) without a library: for float and double, with any steps.
template <class T>
void plainGemm(int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b, T beta, Matrix<T> c);

extern template void plainGemm(int64_t, int64_t, int64_t, float, Matrix<const float>, Matrix<const float>, float,
                               Matrix<float>);
extern template void plainGemm(int64_t, int64_t, int64_t, double, Matrix<const double>, Matrix<const double>, double,
                               Matrix<double>);

// Memory for packed blocks; small blocks are on the stack.
template <class T>
class Workspace {
 public:
  explicit Workspace(int64_t elements) : bytes_(static_cast<size_t>(elements) * sizeof(T)) {
    memory_ = bytes_ <= sizeof(near_) ? near_ : static_cast<std::byte*>(allocateCached(bytes_));
  }
  ~Workspace() {
    if (memory_ != near_) freeCached(memory_, bytes_);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  T* data() { return reinterpret_cast<T*>(memory_); }

  // Returns the next part, of [elements] elements rounded up to kPart.
  static constexpr int64_t kPart = 16;
  T* take(int64_t elements) {
    T* const part = data() + taken_;
    taken_ += (elements + kPart - 1) / kPart * kPart;
    return part;
  }

 private:
  size_t bytes_;
  std::byte* memory_;
  int64_t taken_ = 0;
  alignas(64) std::byte near_[8192];
};

// Columns of b, [width] adjacent ones at a time: packed or in place.
template <class T>
struct GemmColumns {
  const T* data;
  int64_t column_step;  // from one tile's first column to the next tile's, divided by the width
  int64_t step;         // from one k to the next
  int64_t width;        // that of wide tiles or of narrow ones
};

// c = alpha * a @ b for a block of a product, or += that with [accumulate], on the calling thread. Rows of [a] may be
// packed as plain_gemm.cpp does.
template <class T>
void multiplyBlock(const GemmKernels<T>& kernels, int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a,
                   bool rows_packed, const GemmColumns<T>& columns, bool accumulate, Matrix<T> c);

extern template void multiplyBlock(const GemmKernels<float>&, int64_t, int64_t, int64_t, float, Matrix<const float>,
                                   bool, const GemmColumns<float>&, bool, Matrix<float>);
extern template void multiplyBlock(const GemmKernels<double>&, int64_t, int64_t, int64_t, double, Matrix<const double>,
                                   bool, const GemmColumns<double>&, bool, Matrix<double>);

}  // namespace boxcar::cpu
