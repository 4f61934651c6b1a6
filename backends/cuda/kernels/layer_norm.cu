#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/kernels/per_thread.h>
#include <boxcar/backends/cuda/kernels/rows.h>
#include <boxcar/backends/cuda/row_kernels.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/functions.h>

#include <type_traits>

namespace boxcar::cuda {
namespace {

using functors::Compute;

// The mean and the scale of each row, in the type of the elements or in float32.
template <class T>
struct Statistics {
  using C = Compute<T>;
  void* mean;
  void* scale;
  bool has_elements_type;

  BOXCAR_HOST_DEVICE void store(int64_t row, C middle, C factor) const {
    if (has_elements_type) {
      static_cast<T*>(mean)[row] = static_cast<T>(middle);
      static_cast<T*>(scale)[row] = static_cast<T>(factor);
    } else {
      static_cast<C*>(mean)[row] = middle;
      static_cast<C*>(scale)[row] = factor;
    }
  }
};

// One block per row: computes the mean, then the variance from the deviations, then the row. A row that fits is read
// once and kept in shared memory.
template <class T, class W>
struct LayerNorm {
  using C = Compute<T>;
  const T* in;
  const W* weight;
  const W* bias;
  T* out;
  Statistics<T> statistics;
  int64_t length;
  C eps;
  bool keeps;

  BOXCAR_HOST_DEVICE void operator()(const Block& block) const {
    const T* const row = in + block.index() * length;
    C* const room = block.shared<C>();
    C* const kept = room + 40;
    const auto add = [](C a, C b) { return a + b; };
    const C sum = block.combine(
        room,
        [&](int thread) {
          C mine = 0;
          forRow(row, length, thread, [&](int64_t i, T x) {
            const C value = static_cast<C>(x);
            if (keeps) kept[i] = value;
            mine += value;
          });
          return mine;
        },
        add);
    const C middle = sum / static_cast<C>(length);
    const C squares = block.combine(
        room,
        [&](int thread) {
          C mine = 0;
          const auto take = [&](C x) { mine += (x - middle) * (x - middle); };
          forRow(row, keeps ? 0 : length, thread, [&](int64_t, T x) { take(static_cast<C>(x)); });
          for (int64_t i = thread; keeps && i < length; i += kRowThreads) take(kept[i]);
          return mine;
        },
        add);
    const C factor = C(1) / functors::sqrt(squares / static_cast<C>(length) + eps);
    block.each([&](int thread) {
      if (thread == 0) statistics.store(block.index(), middle, factor);
      writeRow(out + block.index() * length, length, thread, [&](int64_t i) {
        C x = ((keeps ? kept[i] : static_cast<C>(row[i])) - middle) * factor;
        if (weight != nullptr) x *= static_cast<C>(weight[i]);
        if (bias != nullptr) x += static_cast<C>(bias[i]);
        return static_cast<T>(x);
      });
    });
  }
};

// A row that has one pack of 16 bytes, or none, for each thread. Everything is read before anything is computed, so
// that the weights arrive together with the elements.
template <class T, class W, int threads>
struct ShortLayerNorm {
  using C = Compute<T>;
  static constexpr int kPack = static_cast<int>(16 / sizeof(T));
  const T* in;
  const W* weight;
  const W* bias;
  T* out;
  Statistics<T> statistics;
  int64_t length;
  C eps;

  struct Held {
    Pack<T, kPack> x;
    Pack<W, kPack> weight;
    Pack<W, kPack> bias;
  };

  BOXCAR_HOST_DEVICE void operator()(const Block& block) const {
    const int64_t begin = block.index() * length;
    C* const room = block.shared<C>();
    PerThread<Held, threads> held;
    const auto add = [](C a, C b) { return a + b; };
    const C sum = block.combine(
        room,
        [&](int thread) {
          const int64_t at = int64_t{thread} * kPack;
          C mine = 0;
          if (at >= length) return mine;
          Held& h = held[thread];
          h.x = *reinterpret_cast<const Pack<T, kPack>*>(in + begin + at);
          if (weight != nullptr) h.weight = *reinterpret_cast<const Pack<W, kPack>*>(weight + at);
          if (bias != nullptr) h.bias = *reinterpret_cast<const Pack<W, kPack>*>(bias + at);
          for (int k = 0; k < kPack; ++k) mine += static_cast<C>(h.x.elements[k]);
          return mine;
        },
        add);
    const C middle = sum / static_cast<C>(length);
    const C squares = block.combine(
        room,
        [&](int thread) {
          C mine = 0;
          if (int64_t{thread} * kPack >= length) return mine;
          for (int k = 0; k < kPack; ++k) {
            const C x = static_cast<C>(held[thread].x.elements[k]) - middle;
            mine += x * x;
          }
          return mine;
        },
        add);
    const C factor = C(1) / functors::sqrt(squares / static_cast<C>(length) + eps);
    block.each([&](int thread) {
      if (thread == 0) statistics.store(block.index(), middle, factor);
      const int64_t at = int64_t{thread} * kPack;
      if (at >= length) return;
      const Held& h = held[thread];
      Pack<T, kPack> results;
      for (int k = 0; k < kPack; ++k) {
        C x = (static_cast<C>(h.x.elements[k]) - middle) * factor;
        if (weight != nullptr) x *= static_cast<C>(h.weight.elements[k]);
        if (bias != nullptr) x += static_cast<C>(h.bias.elements[k]);
        results.elements[k] = static_cast<T>(x);
      }
      *reinterpret_cast<Pack<T, kPack>*>(out + begin + at) = results;
    });
  }
};

// Launches ShortLayerNorm if the rows are short enough and lie well. Returns false if not.
template <class T, class W>
bool launchShort(const LayerNormLaunch& call, const Statistics<T>& statistics) {
  using C = Compute<T>;
  constexpr int64_t kPack = 16 / sizeof(T);
  const auto liesWell = [](const void* data, size_t bytes) { return reinterpret_cast<uintptr_t>(data) % bytes == 0; };
  if (call.length % kPack != 0 || call.length > kRowThreads * kPack || !liesWell(call.in, 16) ||
      !liesWell(call.out, 16) || !liesWell(call.weight, kPack * sizeof(W)) || !liesWell(call.bias, kPack * sizeof(W))) {
    return false;
  }
  const auto run = [&]<int threads>(std::integral_constant<int, threads>) {
    launchBlocks<threads>(
        call.rows, 40 * sizeof(C),
        ShortLayerNorm<T, W, threads>{static_cast<const T*>(call.in), static_cast<const W*>(call.weight),
                                      static_cast<const W*>(call.bias), static_cast<T*>(call.out), statistics,
                                      call.length, static_cast<C>(call.eps)});
  };
  const int64_t packs = call.length / kPack;
  if (packs <= 64) {
    run(std::integral_constant<int, 64>());
  } else if (packs <= 128) {
    run(std::integral_constant<int, 128>());
  } else {
    run(std::integral_constant<int, kRowThreads>());
  }
  return true;
}

template <class T, class W>
void launch(const LayerNormLaunch& call) {
  using C = Compute<T>;
  const Statistics<T> statistics{call.mean, call.scale, call.statistics == call.type};
  if (launchShort<T, W>(call, statistics)) return;
  const bool keeps = static_cast<size_t>(call.length) * sizeof(C) <= kKeptBytes;
  const size_t shared = (40 + (keeps ? static_cast<size_t>(call.length) : 0)) * sizeof(C);
  launchBlocks<kRowThreads>(call.rows, shared,
                            LayerNorm<T, W>{static_cast<const T*>(call.in), static_cast<const W*>(call.weight),
                                            static_cast<const W*>(call.bias), static_cast<T*>(call.out), statistics,
                                            call.length, static_cast<C>(call.eps), keeps});
}

}  // namespace

void launchLayerNorm(const LayerNormLaunch& call) {
  visitScalarType(kFloatingTypes, call.type, "layer_norm", [&]<class T>(std::type_identity<T>) {
    if constexpr (functors::kIsSmallFloat<T>) {
      if (call.parameter_type == ScalarType::Float) return launch<T, float>(call);
    }
    launch<T, T>(call);
  });
}

}  // namespace boxcar::cuda
