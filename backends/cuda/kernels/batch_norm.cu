#include <boxcar/backends/cuda/channel_kernels.h>
#include <boxcar/backends/cuda/kernels/late_start.h>
#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/kernels/rows.h>
#include <boxcar/backends/cuda/kernels/split.h>
#include <boxcar/backends/functors/batch_norm.h>
#include <boxcar/backends/functors/element.h>

#include <limits>

namespace boxcar::cuda {
namespace {

using functors::Compute;
using Moments = functors::Moments<double>;

constexpr int kThreads = 256;
// Threads side by side along the channels, if these are innermost.
constexpr int kColumns = 32;
constexpr int kRows = kThreads / kColumns;

// Returns the moments of read(i) for i in [begin, end) by [step]. Accumulates deviations from the first value, so that
// few digits are lost.
template <class C, class Read>
BOXCAR_HOST_DEVICE Moments momentsOf(int64_t begin, int64_t end, int64_t step, const Read& read) {
  if (begin >= end) return {0, 0, 0};
  const C shift = read(begin);
  C sum = 0;
  C squares = 0;
  int64_t count = 0;
  for (int64_t i = begin; i < end; i += step, ++count) {
    const C rest = read(i) - shift;
    sum += rest;
    squares += rest * rest;
  }
  const double offset = static_cast<double>(sum) / static_cast<double>(count);
  const double around = static_cast<double>(squares) - static_cast<double>(sum) * offset;
  // Rounding must not make it negative; NaN stays.
  return {static_cast<double>(count), static_cast<double>(shift) + offset, around < 0 ? 0 : around};
}

// A part of a channel: a consecutive range of the elements of all its samples.
struct Parts {
  int64_t parts;
  int64_t per_part;
  int64_t count;

  explicit Parts(const BatchNormLaunch& call)
      : parts(call.parts),
        per_part(blocksFor(call.samples * call.length, call.parts)),
        count(call.samples * call.length) {}

  BOXCAR_HOST_DEVICE int64_t begin(int64_t part) const { return part * per_part < count ? part * per_part : count; }
  BOXCAR_HOST_DEVICE int64_t end(int64_t part) const { return begin(part + 1); }
};

// One block per part of a channel.
template <class T, class Index>
struct MomentsAlongRows {
  using C = Compute<T>;
  const T* in;
  Moments* out;
  Parts parts;
  int64_t channels;
  int64_t length;
  Split<Index> row;

  BOXCAR_HOST_DEVICE void operator()(const Block& block) const {
    const int64_t part = block.index() % parts.parts;
    const T* const channel = in + block.index() / parts.parts * length;
    const auto read = [&](int64_t i) {
      auto sample = static_cast<Index>(i);
      const int64_t place = row.take(sample);
      return static_cast<C>(channel[static_cast<int64_t>(sample) * channels * length + place]);
    };
    const Moments all = block.combine(
        block.shared<Moments>(),
        [&](int thread) { return momentsOf<C>(parts.begin(part) + thread, parts.end(part), kThreads, read); },
        [](const Moments& a, const Moments& b) { return Moments::merge(a, b); });
    block.each([&](int thread) {
      if (thread == 0) out[block.index()] = all;
    });
  }
};

// One block per part of several adjacent channels.
template <class T>
struct MomentsAlongColumns {
  using C = Compute<T>;
  const T* in;
  Moments* out;
  Parts parts;
  int64_t channels;

  BOXCAR_HOST_DEVICE void operator()(const Block& block) const {
    const int64_t part = block.index() % parts.parts;
    const int64_t first = block.index() / parts.parts * kColumns;
    Moments* const room = block.shared<Moments>();
    block.each([&](int thread) {
      const int64_t channel = first + thread % kColumns;
      if (channel >= channels) return;
      room[thread] = momentsOf<C>(parts.begin(part) + thread / kColumns, parts.end(part), kRows,
                                  [&](int64_t i) { return static_cast<C>(in[i * channels + channel]); });
    });
    block.each([&](int thread) {
      const int64_t channel = first + thread;
      if (thread >= kColumns || channel >= channels) return;
      Moments all = room[thread];
      for (int row = 1; row < kRows; ++row) all = Moments::merge(all, room[row * kColumns + thread]);
      out[channel * parts.parts + part] = all;
    });
  }
};

// Computes a channel's factors from its mean and variance.
template <class P>
struct Channels {
  using C = Compute<P>;
  const P* weight;
  const P* bias;
  P* running_mean;
  P* running_var;
  P* saved_mean;
  P* saved_scale;
  C* factors;
  C* shifts;
  double momentum;
  double eps;

  explicit Channels(const BatchNormLaunch& call)
      : weight(static_cast<const P*>(call.weight)),
        bias(static_cast<const P*>(call.bias)),
        running_mean(static_cast<P*>(call.running_mean)),
        running_var(static_cast<P*>(call.running_var)),
        saved_mean(static_cast<P*>(call.mean)),
        saved_scale(static_cast<P*>(call.scale)),
        factors(static_cast<C*>(call.factors)),
        shifts(factors + call.channels),
        momentum(call.momentum),
        eps(call.eps) {}

  BOXCAR_HOST_DEVICE static double read(const P* values, int64_t channel, double otherwise) {
    return values == nullptr ? otherwise : static_cast<double>(static_cast<C>(values[channel]));
  }
  BOXCAR_HOST_DEVICE static P narrow(double value) { return static_cast<P>(static_cast<C>(value)); }
  BOXCAR_HOST_DEVICE void move(P* running, int64_t channel, double value) const {
    if (running == nullptr) return;
    running[channel] = narrow(functors::runningStatistic(read(running, channel, 0), value, momentum));
  }

  // Returns the reciprocal standard deviation.
  BOXCAR_HOST_DEVICE double scaleBy(int64_t channel, double mean, double variance) const {
    const double scale = functors::reciprocalDeviation(variance, eps);
    const functors::ChannelScale both(mean, scale, read(weight, channel, 1), read(bias, channel, 0));
    factors[channel] = static_cast<C>(both.factor);
    shifts[channel] = static_cast<C>(both.shift);
    return scale;
  }
};

// Training: one block per channel merges its parts.
constexpr int kMergingThreads = 64;
template <class P>
struct MergeParts {
  Channels<P> channels;
  const Moments* moments;
  int64_t parts;

  BOXCAR_HOST_DEVICE void operator()(const Block& block) const {
    const int64_t channel = block.index();
    const Moments all = block.combine(
        block.shared<Moments>(),
        [&](int thread) {
          Moments mine{0, 0, 0};
          for (int64_t part = thread; part < parts; part += kMergingThreads) {
            mine = Moments::merge(mine, moments[channel * parts + part]);
          }
          return mine;
        },
        [](const Moments& a, const Moments& b) { return Moments::merge(a, b); });
    block.each([&](int thread) {
      if (thread != 0) return;
      const double mean = all.count == 0 ? std::numeric_limits<double>::quiet_NaN() : all.mean;
      const double variance = all.squares / all.count;
      channels.saved_mean[channel] = channels.narrow(mean);
      channels.saved_scale[channel] = channels.narrow(channels.scaleBy(channel, mean, variance));
      channels.move(channels.running_mean, channel, mean);
      channels.move(channels.running_var, channel, functors::unbiasedVariance(variance, all.count));
    });
  }
};

// Inference: one thread per channel.
template <class P>
struct TakeRunning {
  Channels<P> channels;
  int64_t count;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t channel = block * kThreads + thread;
    if (channel >= count) return;
    channels.scaleBy(channel, channels.read(channels.running_mean, channel, 0),
                     channels.read(channels.running_var, channel, 0));
  }
};

// One thread per [width] contiguous elements, which belong either to one channel or to [width] channels.
template <class T, int width, class Index>
struct ScaleElements {
  using C = Compute<T>;
  const T* in;
  T* out;
  int64_t packs;
  const C* factors;
  const C* shifts;
  int64_t step;  // 1 if channels are innermost, else 0
  Split<Index> beside;
  Split<Index> channels;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t i = block * kThreads + thread;
    if (i >= packs) return;
    auto number = static_cast<Index>(i * width);
    beside.take(number);
    const int64_t channel = channels.take(number);
    Pack<T, width> pack = *reinterpret_cast<const Pack<T, width>*>(in + i * width);
    for (int k = 0; k < width; ++k) {
      const int64_t at = channel + k * step;
      pack.elements[k] = static_cast<T>(static_cast<C>(pack.elements[k]) * factors[at] + shifts[at]);
    }
    *reinterpret_cast<Pack<T, width>*>(out + i * width) = pack;
  }
};

template <class T>
void launchMoments(const BatchNormLaunch& call) {
  const auto* in = static_cast<const T*>(call.in);
  const Parts parts(call);
  const LateStart parts_have_equal_shares;
  if (call.channels_last) {
    launchBlocks<kThreads>(blocksFor(call.channels, kColumns) * call.parts, kThreads * sizeof(Moments),
                           MomentsAlongColumns<T>{in, call.moments, parts, call.channels});
    return;
  }
  visitIndex(parts.count, [&]<class Index>(std::type_identity<Index>) {
    constexpr size_t kRoom = 33 * sizeof(Moments);
    launchBlocks<kThreads>(call.channels * call.parts, kRoom,
                           MomentsAlongRows<T, Index>{in, call.moments, parts, call.channels, call.length,
                                                      Split<Index>(call.length < 1 ? 1 : call.length)});
  });
}

template <class P>
void launchChannels(const BatchNormLaunch& call) {
  const Channels<P> channels(call);
  if (call.training) {
    constexpr size_t kRoom = 33 * sizeof(Moments);
    launchBlocks<kMergingThreads>(call.channels, kRoom, MergeParts<P>{channels, call.moments, call.parts});
  } else {
    launchGrid<kThreads>(blocksFor(call.channels, kThreads), TakeRunning<P>{channels, call.channels});
  }
}

template <class T, int width>
void launchScaling(const BatchNormLaunch& call) {
  using C = Compute<T>;
  const int64_t count = call.samples * call.channels * call.length;
  if (count == 0) return;
  const auto* factors = static_cast<const C*>(call.factors);
  visitIndex(count, [&]<class Index>(std::type_identity<Index>) {
    launchGrid<kThreads>(blocksFor(count / width, kThreads),
                         ScaleElements<T, width, Index>{
                             static_cast<const T*>(call.in), static_cast<T*>(call.out), count / width, factors,
                             factors + call.channels, call.channels_last ? 1 : 0,
                             Split<Index>(call.channels_last ? 1 : call.length), Split<Index>(call.channels)});
  });
}

template <class T>
void launchElements(const BatchNormLaunch& call) {
  constexpr int kPack = static_cast<int>(16 / sizeof(T));
  const bool is_aligned = (reinterpret_cast<uintptr_t>(call.in) | reinterpret_cast<uintptr_t>(call.out)) % 16 == 0;
  if (is_aligned && (call.channels_last ? call.channels : call.length) % kPack == 0) {
    launchScaling<T, kPack>(call);
  } else {
    launchScaling<T, 1>(call);
  }
}

}  // namespace

void launchBatchNorm(const BatchNormLaunch& call) {
  visitScalarType(kFloatingTypes, call.type, "batch_norm", [&]<class T>(std::type_identity<T>) {
    if (call.training) launchMoments<T>(call);
    if (functors::kIsSmallFloat<T> && call.parameter_type == ScalarType::Float) {
      launchChannels<float>(call);
    } else {
      launchChannels<T>(call);
    }
    launchElements<T>(call);
  });
}

}  // namespace boxcar::cuda
