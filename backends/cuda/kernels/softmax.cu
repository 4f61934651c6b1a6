#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/kernels/rows.h>
#include <boxcar/backends/cuda/row_kernels.h>
#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/element.h>

#include <limits>

namespace boxcar::cuda {
namespace {

using functors::Compute;

template <class C>
struct Greater {
  BOXCAR_HOST_DEVICE C operator()(C a, C b) const { return a > b || functors::isNan(a) ? a : b; }
};
template <class C>
struct Sum {
  BOXCAR_HOST_DEVICE C operator()(C a, C b) const { return a + b; }
};

// One block per row. A row that fits is read once and kept in shared memory.
template <class In, class Out>
struct SoftmaxRows {
  using C = Compute<In>;
  const In* in;
  Out* out;
  int64_t length;
  bool logarithm;
  bool keeps;

  BOXCAR_HOST_DEVICE void operator()(const Block& block) const {
    const In* const row = in + block.index() * length;
    C* const room = block.shared<C>();
    C* const kept = room + 40;
    const C greatest = block.combine(
        room,
        [&](int thread) {
          C mine = -std::numeric_limits<C>::infinity();
          forRow(row, length, thread, [&](int64_t i, In x) {
            const C value = static_cast<C>(x);
            if (keeps) kept[i] = value;
            mine = Greater<C>()(mine, value);
          });
          return mine;
        },
        Greater<C>());
    const C sum = block.combine(
        room,
        [&](int thread) {
          C mine = 0;
          forRow(row, keeps ? 0 : length, thread,
                 [&](int64_t, In x) { mine += functors::exp(static_cast<C>(x) - greatest); });
          for (int64_t i = thread; keeps && i < length; i += kRowThreads) {
            const C power = functors::exp(kept[i] - greatest);
            mine += power;
            if (!logarithm) kept[i] = power;
          }
          return mine;
        },
        Sum<C>());
    const C shift = logarithm ? greatest + functors::log(sum) : C(1) / sum;
    block.each([&](int thread) {
      writeRow(out + block.index() * length, length, thread, [&](int64_t i) {
        const C x = keeps ? kept[i] : static_cast<C>(row[i]);
        if (logarithm) return static_cast<Out>(x - shift);
        return static_cast<Out>((keeps ? x : functors::exp(x - greatest)) * shift);
      });
    });
  }
};

// One thread per column.
template <class In, class Out>
struct SoftmaxColumns {
  using C = Compute<In>;
  const In* in;
  Out* out;
  int64_t columns;
  int64_t length;
  int64_t inner;
  bool logarithm;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t column = block * kRowThreads + thread;
    if (column >= columns) return;
    const int64_t first = column / inner * length * inner + column % inner;
    C greatest = -std::numeric_limits<C>::infinity();
    for (int64_t i = 0; i < length; ++i) greatest = Greater<C>()(greatest, static_cast<C>(in[first + i * inner]));
    C sum = 0;
    for (int64_t i = 0; i < length; ++i) sum += functors::exp(static_cast<C>(in[first + i * inner]) - greatest);
    const C shift = logarithm ? greatest + functors::log(sum) : C(1) / sum;
    for (int64_t i = 0; i < length; ++i) {
      const C x = static_cast<C>(in[first + i * inner]);
      out[first + i * inner] = static_cast<Out>(logarithm ? x - shift : functors::exp(x - greatest) * shift);
    }
  }
};

template <class In, class Out>
void launch(const SoftmaxLaunch& call) {
  using C = Compute<In>;
  const auto* in = static_cast<const In*>(call.in);
  auto* out = static_cast<Out*>(call.out);
  if (call.inner == 1) {
    const bool keeps = static_cast<size_t>(call.length) * sizeof(C) <= kKeptBytes;
    const size_t shared = (40 + (keeps ? static_cast<size_t>(call.length) : 0)) * sizeof(C);
    launchBlocks<kRowThreads>(call.outer, shared, SoftmaxRows<In, Out>{in, out, call.length, call.logarithm, keeps});
    return;
  }
  const int64_t columns = call.outer * call.inner;
  launchGrid<kRowThreads>(blocksFor(columns, kRowThreads),
                          SoftmaxColumns<In, Out>{in, out, columns, call.length, call.inner, call.logarithm});
}

}  // namespace

void launchSoftmax(const SoftmaxLaunch& call) {
  visitScalarType(kFloatingTypes, call.type, "softmax", [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, Half>) {
      if (call.to_float) return launch<T, float>(call);
    }
    launch<T, T>(call);
  });
}

}  // namespace boxcar::cuda
