#include <boxcar/backends/cpu/copy.h>
#include <boxcar/backends/cpu/element.h>
#include <boxcar/backends/cpu/iterator.h>
#include <boxcar/backends/cpu/lines.h>
#include <boxcar/dispatcher/library.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace boxcar::cpu {
namespace {

constexpr ElementTypes<float, double> kComputedTypes;

template <class T>
struct Line {
  char* start;
  int64_t step;
  T& operator[](int64_t i) const { return *reinterpret_cast<T*>(start + i * step); }
};

template <class T>
void softmaxLine(Line<T> out, Line<const T> in, int64_t n, bool logarithm) {
  T greatest = -std::numeric_limits<T>::infinity();
  for (int64_t i = 0; i < n; ++i) greatest = in[i] > greatest || std::isnan(in[i]) ? in[i] : greatest;
  T sum = 0;
  if (logarithm) {
    for (int64_t i = 0; i < n; ++i) sum += std::exp(in[i] - greatest);
    const T shift = greatest + std::log(sum);
    for (int64_t i = 0; i < n; ++i) out[i] = in[i] - shift;
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    out[i] = std::exp(in[i] - greatest);
    sum += out[i];
  }
  for (int64_t i = 0; i < n; ++i) out[i] /= sum;
}

// float16 and bfloat16 are computed in float32.
Tensor computeAlong(const Tensor& self, int64_t dim, bool half_to_float, bool logarithm) {
  checkOnCpu(self);
  const ScalarType type = self.scalar_type();
  const auto along = static_cast<size_t>(wrapDimension(dim, self.dim()));
  BOXCAR_CHECK(!half_to_float || type == ScalarType::Half,
               "softmax with half to float conversion takes a float16 tensor, not one of {}", dtypeName(type));
  if (type == ScalarType::Half || type == ScalarType::BFloat16) {
    const Tensor result = computeAlong(convertTo(self, ScalarType::Float), dim, false, logarithm);
    return half_to_float ? result : convertTo(result, type);
  }
  Tensor out = Tensor::allocate(self.sizes(), type);
  visitScalarType(kComputedTypes, type, logarithm ? "log_softmax" : "softmax", [&]<class T>(std::type_identity<T>) {
    const int64_t n = lineLength(self, along);
    forEachLine(along, {&out, &self}, [&](char* const* line) {
      softmaxLine<T>({line[0], lineStep(out, along)}, {line[1], lineStep(self, along)}, n, logarithm);
    });
  });
  return out;
}

Tensor softmax(const Tensor& self, int64_t dim, bool half_to_float) {
  return computeAlong(self, dim, half_to_float, /*logarithm=*/false);
}
Tensor logSoftmax(const Tensor& self, int64_t dim, bool half_to_float) {
  return computeAlong(self, dim, half_to_float, /*logarithm=*/true);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("_softmax", BOXCAR_FN(softmax));
  m.impl("_log_softmax", BOXCAR_FN(logSoftmax));
}

}  // namespace boxcar::cpu
