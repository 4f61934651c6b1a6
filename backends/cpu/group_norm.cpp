#include <boxcar/backends/cpu/moments.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/vector_normalization.h>
#include <boxcar/backends/native/group_norm.h>

#include <algorithm>
#include <cmath>

namespace boxcar::cpu {
namespace {

// [samples, groups, channels per group, elements per channel], contiguous, with elements of T.
template <class T>
struct GroupNorm {
  const T* in;
  T* out;
  const T* weight;
  const T* bias;
  T* means;
  T* scales;
  int64_t samples;
  int64_t groups;
  int64_t channels;
  int64_t length;
  double eps;

  void normalize(int64_t row) const {
    const int64_t n = channels * length;
    const Moments<double> moments = rowMoments(in + row * n, n);
    const T mean = static_cast<T>(moments.mean);
    const T scale = static_cast<T>(1 / std::sqrt(std::max(moments.squares / moments.count, 0.0) + eps));
    means[row] = mean;
    scales[row] = scale;
    const int64_t first = row % groups * channels;
    for (int64_t k = 0; k < channels; ++k) {
      const T factor = weight == nullptr ? scale : scale * weight[first + k];
      const T shift = (bias == nullptr ? T(0) : bias[first + k]) - mean * factor;
      const int64_t start = row * n + k * length;
      normalizationRows<T>().scale(in + start, out + start, static_cast<size_t>(length), factor, shift);
    }
  }

  void run() const {
    const int64_t grain = kParallelGrain / std::max<int64_t>(1, channels * length);
    parallelFor(0, samples * groups, std::max<int64_t>(1, grain), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) normalize(row);
    });
  }
};

void normalize(const native::GroupNormCall& call, const Tensor& out, const Tensor& mean, const Tensor& scale) {
  visitScalarType(kFullFloatTypes, call.input.scalar_type(), "group_norm", [&]<class T>(std::type_identity<T>) {
    const auto elementsOf = [](const Tensor& tensor) {
      return tensor.defined() ? tensor.const_data_ptr<T>() : nullptr;
    };
    GroupNorm<T>{call.input.const_data_ptr<T>(),
                 out.mutable_data_ptr<T>(),
                 elementsOf(call.weight),
                 elementsOf(call.bias),
                 mean.mutable_data_ptr<T>(),
                 scale.mutable_data_ptr<T>(),
                 call.samples,
                 call.groups,
                 call.channels,
                 call.length,
                 call.eps}
        .run();
  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, groupNormRows, cpu::normalize)

}  // namespace boxcar::native
