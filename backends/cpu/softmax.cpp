#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/vector_reductions.h>
#include <boxcar/backends/cpu/vector_softmax.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/softmax.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace boxcar::cpu {
namespace {

using native::Lines;

// Processes [width] columns of [length] elements, which are [inner] apart.
template <class T>
void softmaxColumns(const T* in, T* out, int64_t length, int64_t inner, int64_t width, bool logarithm) {
  constexpr int64_t kWidth = 256;
  for (; width > 0; in += kWidth, out += kWidth, width -= kWidth) {
    const int64_t part = std::min(kWidth, width);
    const auto columns = static_cast<size_t>(part);
    T greatest[kWidth];
    T sum[kWidth];
    std::fill_n(greatest, part, -std::numeric_limits<T>::infinity());
    std::fill_n(sum, part, T(0));
    vectorReduceRows<T>(VectorReduction::kAmax)
        .columns(greatest, reinterpret_cast<const char*>(in), inner * static_cast<int64_t>(sizeof(T)), length, columns);
    for (int64_t i = 0; i < length; ++i) {
      softmaxRows<T>().exponentials(in + i * inner, greatest, logarithm ? nullptr : out + i * inner, sum, columns);
    }
    for (int64_t k = 0; k < part; ++k) sum[k] = logarithm ? std::log(sum[k]) : T(1) / sum[k];
    for (int64_t i = 0; i < length; ++i) {
      const T* x = in + i * inner;
      T* y = out + i * inner;
      for (int64_t k = 0; k < part; ++k) y[k] = logarithm ? x[k] - greatest[k] - sum[k] : y[k] * sum[k];
    }
  }
}

template <class T>
void softmaxLines(const Tensor& out, const Tensor& self, const Lines& lines, bool logarithm) {
  const T* in = self.const_data_ptr<T>();
  T* to = out.mutable_data_ptr<T>();
  const int64_t block = lines.length * lines.inner;
  if (block == 0) return;
  const int64_t grain = std::max<int64_t>(1, kParallelGrain / block);
  if (lines.inner == 1) {
    const auto row = logarithm ? softmaxRows<T>().log_softmax : softmaxRows<T>().softmax;
    return parallelFor(0, lines.outer, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) row(in + i * block, to + i * block, static_cast<size_t>(lines.length));
    });
  }
  const int64_t column_grain = std::max<int64_t>(16, kParallelGrain / lines.length);
  if (lines.outer >= threadCount()) {
    return parallelFor(0, lines.outer, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        softmaxColumns(in + i * block, to + i * block, lines.length, lines.inner, lines.inner, logarithm);
      }
    });
  }
  for (int64_t i = 0; i < lines.outer; ++i) {
    parallelFor(0, lines.inner, column_grain, [&](int64_t begin, int64_t end) {
      softmaxColumns(in + i * block + begin, to + i * block + begin, lines.length, lines.inner, end - begin, logarithm);
    });
  }
}

// float16 and bfloat16 are computed in float32.
void softmax(const Tensor& out, const Tensor& self, const Lines& lines, bool logarithm) {
  if (isSmallFloat(self)) {
    const Tensor result = Tensor::allocate(self.sizes(), ScalarType::Float);
    softmax(result, convertTo(self, ScalarType::Float), lines, logarithm);
    return copyElements(out, result);
  }
  visitScalarType(kFullFloatTypes, self.scalar_type(), "softmax",
                  [&]<class T>(std::type_identity<T>) { softmaxLines<T>(out, self, lines, logarithm); });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, softmaxLines, cpu::softmax)

}  // namespace boxcar::native
