#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/cpu/vector_reductions.h>
#include <boxcar/backends/cpu/vector_softmax.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/elements/element.h>
#include <boxcar/backends/shape/reduction.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace boxcar::cpu {
namespace {

constexpr ElementTypes<float, double> kComputedTypes;

// Contiguous elements seen as [outer, length, inner], the softmax going over the middle.
struct Lines {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;

  Lines(const Tensor& self, size_t along) {
    for (size_t i = 0; i < self.sizes().size(); ++i) {
      int64_t& part = i < along ? outer : i == along ? length : inner;
      part *= self.sizes()[i];
    }
  }
};

// [width] columns of [length] elements, [inner] apart.
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
    vectorReduceRows<T>(VectorReduction::kGreatest)
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
Tensor computeAlong(const Tensor& self, int64_t dim, bool half_to_float, bool logarithm) {
  const std::string_view name = logarithm ? "log_softmax" : "softmax";
  checkCpuOrMeta(self);
  const ScalarType type = self.scalar_type();
  visitScalarType(kFloatingTypes, type, name, [](auto) {});  // the Error of any other names all of them
  const auto along = static_cast<size_t>(wrapDimension(dim, self.dim()));
  BOXCAR_CHECK(!half_to_float || type == ScalarType::Half,
               "{} with half to float conversion takes a float16 tensor, not one of {}", name, dtypeName(type));
  if (type == ScalarType::Half || type == ScalarType::BFloat16) {
    const Tensor result = computeAlong(convertTo(self, ScalarType::Float), dim, false, logarithm);
    return half_to_float ? result : convertTo(result, type);
  }
  Tensor out = Tensor::allocate(self.sizes(), type, self.device());
  visitScalarType(kComputedTypes, type, name, [&]<class T>(std::type_identity<T>) {
    if (self.is_meta() || self.numel() == 0) return;
    const Tensor source = toContiguous(self);
    softmaxLines<T>(out, source, Lines(self, along), logarithm);
  });
  return out;
}

Tensor& computeInto(const Tensor& self, int64_t dim, bool half_to_float, bool logarithm, Tensor& out) {
  shape::checkOutType(logarithm ? "log_softmax" : "softmax", out,
                      half_to_float ? ScalarType::Float : self.scalar_type());
  return writeResult(out, computeAlong(self, dim, half_to_float, logarithm));
}

Tensor softmax(const Tensor& self, int64_t dim, bool half_to_float) {
  return computeAlong(self, dim, half_to_float, /*logarithm=*/false);
}
Tensor& softmaxOut(const Tensor& self, int64_t dim, bool half_to_float, Tensor& out) {
  return computeInto(self, dim, half_to_float, /*logarithm=*/false, out);
}
Tensor logSoftmax(const Tensor& self, int64_t dim, bool half_to_float) {
  return computeAlong(self, dim, half_to_float, /*logarithm=*/true);
}
Tensor& logSoftmaxOut(const Tensor& self, int64_t dim, bool half_to_float, Tensor& out) {
  return computeInto(self, dim, half_to_float, /*logarithm=*/true, out);
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  m.impl("_softmax", BOXCAR_FN(softmax));
  m.impl("_softmax.out", BOXCAR_FN(softmaxOut));
  m.impl("_log_softmax", BOXCAR_FN(logSoftmax));
  m.impl("_log_softmax.out", BOXCAR_FN(logSoftmaxOut));
}

}  // namespace boxcar::cpu
