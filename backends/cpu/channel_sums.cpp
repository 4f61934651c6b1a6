#include <boxcar/backends/cpu/lanes.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/native/batch_norm.h>

#include <algorithm>
#include <numeric>
#include <vector>

// Sums over channels and blends of them, for the gradients of batch norm.

namespace boxcar::cpu {
namespace {

using native::ChannelLines;

template <class T>
double total(const T (&lanes)[kLanes]) {
  return std::accumulate(lanes, lanes + kLanes, 0.0);
}

// Each channel is summed by one thread.
template <class T>
void sumLines(const ChannelLines& lines, const T* x, const T* y, const T* shift, T* sums, T* products) {
  const int64_t work = std::max<int64_t>(1, lines.outer * lines.length);
  parallelFor(0, lines.channels, kParallelGrain / work + 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      double sum = 0;
      double product = 0;
      for (int64_t i = 0; i < lines.outer; ++i) {
        const int64_t start = (i * lines.channels + c) * lines.length;
        T line_sums[kLanes] = {};
        T line_products[kLanes] = {};
        inLanes(lines.length, [&]<int64_t n>(int64_t at, std::integral_constant<int64_t, n>) {
          const T* const a = x + start + at;
          const T* const b = y + start + at;
          for (int64_t k = 0; k < n; ++k) {
            line_sums[k] += a[k];
            line_products[k] += a[k] * (b[k] - shift[c]);
          }
        });
        sum += total(line_sums);
        product += total(line_products);
      }
      sums[c] = static_cast<T>(sum);
      products[c] = static_cast<T>(product);
    }
  });
}

// Lines of one element: channels lie next to each other.
template <class T>
void sumColumns(const ChannelLines& lines, const T* x, const T* y, const T* shift, T* sums, T* products) {
  const int64_t channels = lines.channels;
  const RowChunks chunks(lines.outer);
  std::vector<T> parts(static_cast<size_t>(2 * chunks.count * channels));
  parallelFor(0, chunks.count, kParallelGrain / (chunks.size * channels) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* __restrict of_sums = parts.data() + 2 * i * channels;
      T* __restrict of_products = of_sums + channels;
      for (int64_t row = chunks.begin(i); row < chunks.end(i); ++row) {
        const T* const a = x + row * channels;
        const T* const b = y + row * channels;
        inLanes(channels, [&]<int64_t n>(int64_t at, std::integral_constant<int64_t, n>) {
          for (int64_t k = at; k < at + n; ++k) {
            of_sums[k] += a[k];
            of_products[k] += a[k] * (b[k] - shift[k]);
          }
        });
      }
    }
  });
  for (int64_t c = 0; c < channels; ++c) {
    double sum = 0;
    double product = 0;
    for (int64_t i = 0; i < chunks.count; ++i) {
      sum += parts[static_cast<size_t>(2 * i * channels + c)];
      product += parts[static_cast<size_t>((2 * i + 1) * channels + c)];
    }
    sums[c] = static_cast<T>(sum);
    products[c] = static_cast<T>(product);
  }
}

void sumChannels(const ChannelLines& lines, const Tensor& x, const Tensor& y, const Tensor& shift, const Tensor& sums,
                 const Tensor& products) {
  visitScalarType(kFullFloatTypes, x.scalar_type(), "native_batch_norm_backward", [&]<class T>(std::type_identity<T>) {
    const auto sum = lines.length == 1 ? sumColumns<T> : sumLines<T>;
    sum(lines, x.const_data_ptr<T>(), y.const_data_ptr<T>(), shift.const_data_ptr<T>(), sums.mutable_data_ptr<T>(),
        products.mutable_data_ptr<T>());
  });
}

template <class T>
struct ChannelBlend {
  const T* factor;
  const T* shift;
  const T* slope;
  const T* constant;

  T operator()(T x, T y, int64_t c) const { return x * factor[c] + (y - shift[c]) * slope[c] + constant[c]; }
};

template <class T>
void blendLines(const ChannelLines& lines, const ChannelBlend<T>& blend, const T* x, const T* y, T* out) {
  const auto along = [&](int64_t start, int64_t length, const auto& channel_of) {
    inLanes(length, [&]<int64_t n>(int64_t at, std::integral_constant<int64_t, n>) {
      T parts[n];
      for (int64_t k = 0; k < n; ++k) {
        parts[k] = blend(x[start + at + k], y[start + at + k], channel_of(at + k));
      }
      std::copy_n(parts, n, out + start + at);
    });
  };
  if (lines.length == 1) {
    const int64_t grain = kParallelGrain / lines.channels + 1;
    return parallelFor(0, lines.outer, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        along(i * lines.channels, lines.channels, [](int64_t k) { return k; });
      }
    });
  }
  parallelFor(0, lines.outer * lines.channels, kParallelGrain / lines.length + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t c = i % lines.channels;
      along(i * lines.length, lines.length, [c](int64_t) { return c; });
    }
  });
}

void blendChannelsOf(const ChannelLines& lines, const Tensor& x, const Tensor& y, const Tensor& factor,
                     const Tensor& shift, const Tensor& slope, const Tensor& constant, const Tensor& out) {
  visitScalarType(kFullFloatTypes, x.scalar_type(), "native_batch_norm_backward", [&]<class T>(std::type_identity<T>) {
    const ChannelBlend<T> blend{factor.const_data_ptr<T>(), shift.const_data_ptr<T>(), slope.const_data_ptr<T>(),
                                constant.const_data_ptr<T>()};
    blendLines<T>(lines, blend, x.const_data_ptr<T>(), y.const_data_ptr<T>(), out.mutable_data_ptr<T>());
  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, channelSums, cpu::sumChannels)
BOXCAR_REGISTER_STUB(CPU, blendChannels, cpu::blendChannelsOf)

}  // namespace boxcar::native
