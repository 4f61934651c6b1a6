#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/kernels/rows.h>
#include <boxcar/backends/cuda/row_kernels.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/functions.h>

namespace boxcar::cuda {
namespace {

using functors::Compute;

// One block per row: computes the mean, then the variance from the deviations, then the row. A row that fits is read
// once and kept in shared memory.
template <class T, class W>
struct LayerNorm {
  using C = Compute<T>;
  const T* in;
  const W* weight;
  const W* bias;
  T* out;
  C* mean;
  C* scale;
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
      if (thread == 0) {
        mean[block.index()] = middle;
        scale[block.index()] = factor;
      }
      writeRow(out + block.index() * length, length, thread, [&](int64_t i) {
        C x = ((keeps ? kept[i] : static_cast<C>(row[i])) - middle) * factor;
        if (weight != nullptr) x *= static_cast<C>(weight[i]);
        if (bias != nullptr) x += static_cast<C>(bias[i]);
        return static_cast<T>(x);
      });
    });
  }
};

template <class T, class W>
void launch(const LayerNormLaunch& call) {
  using C = Compute<T>;
  const bool keeps = static_cast<size_t>(call.length) * sizeof(C) <= kKeptBytes;
  const size_t shared = (40 + (keeps ? static_cast<size_t>(call.length) : 0)) * sizeof(C);
  launchBlocks<kRowThreads>(
      call.rows, shared,
      LayerNorm<T, W>{static_cast<const T*>(call.in), static_cast<const W*>(call.weight),
                      static_cast<const W*>(call.bias), static_cast<T*>(call.out), static_cast<C*>(call.mean),
                      static_cast<C*>(call.scale), call.length, static_cast<C>(call.eps), keeps});
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
