#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/functors/upsample.h>
#include <boxcar/backends/native/grid_sampler.h>

#include <algorithm>
#include <cmath>
#include <vector>

// Each position of the grid reads some elements, the taps, of each channel. The taps of a block of positions are found
// once; then each channel is a loop over them.

namespace boxcar::cpu {
namespace {

using native::GridPadding;
using native::GridSampling;
using native::Interpolation;

constexpr int64_t kPointsAtOnce = 64;
constexpr int64_t kMostTaps = 64;

// The library's floor is a call unless the processor is known to round.
template <class T>
T wholeBelow(T value) {
  constexpr T kMost = T(1 << 22);
  if (!(std::fabs(value) < kMost)) return std::floor(value);
  const T whole = static_cast<T>(static_cast<int32_t>(value));
  return whole > value ? whole - 1 : whole;
}

template <class T>
struct SampledAxis {
  int64_t size;
  GridPadding padding;
  bool align_corners;

  // The position in elements of a coordinate from -1 to 1.
  T elementAt(T coordinate) const {
    const T n = static_cast<T>(size);
    return align_corners ? (coordinate + 1) / 2 * (n - 1) : ((coordinate + 1) * n - 1) / 2;
  }

  // The position inside the input that [position] reads. NaN reads the first element, unless it reads zeros.
  T inside(T position) const {
    if (padding == GridPadding::kZeros) return position;
    if (padding == GridPadding::kReflection) position = reflected(position);
    return position > 0 ? std::min(position, static_cast<T>(size - 1)) : T(0);
  }

  // The element at a whole [position], or -1 outside.
  int64_t indexAt(T position) const {
    return position >= 0 && position < static_cast<T>(size) ? static_cast<int64_t>(position) : -1;
  }

 private:
  // Reflects at the centres of the first and last elements with [align_corners], else at their outer edges.
  T reflected(T position) const {
    const T span = static_cast<T>(align_corners ? size - 1 : size);
    if (span == 0) return 0;
    const T least = align_corners ? T(0) : T(-0.5);
    const T distance = std::fabs(position - least);
    const T extra = std::fmod(distance, span);
    const bool is_even = std::fmod(std::floor(distance / span), T(2)) == 0;
    return (is_even ? extra : span - extra) + least;
  }
};

// The neighbours along one dimension, which are up to four.
template <class T>
struct Neighbours {
  int64_t index[4];
  T weight[4];
  int64_t count;
};

template <class T>
Neighbours<T> neighboursOf(const SampledAxis<T>& axis, T coordinate, Interpolation interpolation) {
  const T position = axis.elementAt(coordinate);
  if (interpolation == Interpolation::kCubic) {
    const T first = wholeBelow(position);
    Neighbours<T> found{{}, {}, 4};
    functors::cubicWeights(position - first, found.weight);
    for (int64_t k = 0; k < 4; ++k) found.index[k] = axis.indexAt(axis.inside(first + static_cast<T>(k - 1)));
    return found;
  }
  const T place = axis.inside(position);
  if (interpolation == Interpolation::kNearest) return {{axis.indexAt(std::nearbyint(place))}, {T(1)}, 1};
  const T low = wholeBelow(place);
  const T rest = place - low;
  return {{axis.indexAt(low), axis.indexAt(low + 1)}, {T(1) - rest, rest}, 2};
}

template <class T>
struct Sampler {
  GridSampling how;
  int64_t rank;
  int64_t channels;
  int64_t taps = 1;
  int64_t in_elements = 1;
  int64_t out_elements = 1;
  SampledAxis<T> axes[3];  // in the order of the dimensions
  const T* input;
  const T* grid;
  T* out;

  Sampler(const GridSampling& call, const Tensor& result, const Tensor& from, const Tensor& positions)
      : how(call),
        rank(from.dim() - 2),
        channels(from.size(1)),
        input(from.const_data_ptr<T>()),
        grid(positions.const_data_ptr<T>()),
        out(result.mutable_data_ptr<T>()) {
    for (int64_t i = 0; i < rank; ++i) {
      axes[i] = {from.size(2 + i), how.padding, how.align_corners};
      in_elements *= from.size(2 + i);
      out_elements *= result.size(2 + i);
      taps *= how.interpolation == Interpolation::kNearest ? 1 : how.interpolation == Interpolation::kLinear ? 2 : 4;
    }
  }

  // Finds the taps of the position at [coordinates], x first. The offset of taps outside is -1.
  void find(const T* coordinates, int64_t* offsets, T* weights) const {
    int64_t count = 1;
    offsets[0] = 0;
    weights[0] = 1;
    for (int64_t i = 0; i < rank; ++i) {
      const Neighbours<T> found = neighboursOf(axes[i], coordinates[rank - 1 - i], how.interpolation);
      // From the last tap on, as each is replaced by several.
      for (int64_t t = count - 1; t >= 0; --t) {
        const int64_t offset = offsets[t];
        const T weight = weights[t];
        for (int64_t k = 0; k < found.count; ++k) {
          const bool is_outside = offset < 0 || found.index[k] < 0;
          offsets[t * found.count + k] = is_outside ? -1 : offset * axes[i].size + found.index[k];
          weights[t * found.count + k] = weight * found.weight[k];
        }
      }
      count *= found.count;
    }
  }

  // The taps of a block of positions.
  struct Block {
    int64_t size;
    int64_t offsets[kPointsAtOnce * kMostTaps];
    T weights[kPointsAtOnce * kMostTaps];
  };

  // Writes the elements of [kChannels] channels, from [channel] on, at a block of positions from [begin] on.
  template <int64_t kChannels>
  void blend(int64_t channel, int64_t begin, const Block& block) const {
    const T* from = input + channel * in_elements;
    T* to = out + channel * out_elements + begin;
    const int64_t* offset = block.offsets;
    const T* weight = block.weights;
    for (int64_t i = 0; i < block.size; ++i) {
      T sums[kChannels] = {};
      for (int64_t t = 0; t < taps; ++t, ++offset, ++weight) {
        if (*offset < 0) continue;
        for (int64_t c = 0; c < kChannels; ++c) sums[c] += from[c * in_elements + *offset] * *weight;
      }
      for (int64_t c = 0; c < kChannels; ++c) to[c * out_elements + i] = sums[c];
    }
  }

  // Writes [n] elements of each channel of a sample, from [begin] on.
  void sample(int64_t batch, int64_t begin, int64_t n) const {
    Block block;
    block.size = n;
    for (int64_t i = 0; i < n; ++i) {
      find(grid + (batch * out_elements + begin + i) * rank, block.offsets + i * taps, block.weights + i * taps);
    }
    // Several channels at once share the offsets and weights.
    const int64_t end = (batch + 1) * channels;
    int64_t c = batch * channels;
    for (; c + 4 <= end; c += 4) blend<4>(c, begin, block);
    for (; c < end; ++c) blend<1>(c, begin, block);
  }

  void run(int64_t samples) const {
    const int64_t blocks = (out_elements + kPointsAtOnce - 1) / kPointsAtOnce;
    const int64_t work = kPointsAtOnce * taps * (channels + 4);
    parallelFor(0, samples * blocks, kParallelGrain / work + 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t begin = i % blocks * kPointsAtOnce;
        sample(i / blocks, begin, std::min(kPointsAtOnce, out_elements - begin));
      }
    });
  }
};

void sampleGridOf(const GridSampling& how, const Tensor& out, const Tensor& input, const Tensor& grid) {
  visitScalarType(ElementTypes<float, double>{}, out.scalar_type(), "grid_sampler",
                  [&]<class T>(std::type_identity<T>) { Sampler<T>(how, out, input, grid).run(out.size(0)); });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, sampleGrid, cpu::sampleGridOf)

}  // namespace boxcar::native
