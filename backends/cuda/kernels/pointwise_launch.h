#pragma once

#include <boxcar/backends/cuda/failure.h>
#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/kernels/offsets.h>
#include <boxcar/backends/cuda/kernels/pack.h>
#include <boxcar/backends/cuda/pointwise_launcher.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/result_element.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

// Kernels of the pointwise operators, built from the functors of functors/.

namespace boxcar::cuda {

using namespace functors;

namespace detail {

// Applies the functor F in the compute type of T, with results of type Out. If F refuses an input, notes that and
// returns 0.
template <class F, class Out, class T>
struct Function {
  using C = Compute<T>;
  F f;
  Failure* failure;

  template <class... In>
  BOXCAR_HOST_DEVICE Out operator()(In... in) const {
    if constexpr (Refuses<F>) {
      if (!F::accepts(static_cast<C>(in)...)) {
        noteFailure(failure, F::kRefusal);
        return Out{};
      }
    }
    return convertElement<Out>(f(static_cast<C>(in)...));
  }
};

template <class F>
F makeFunctor([[maybe_unused]] const Scalar* params) {
  if constexpr (std::is_constructible_v<F, const Scalar*>) {
    return F(params);
  } else {
    return F();
  }
}

// An input: contiguous elements, one element in device memory, or one passed as a launch parameter.
template <class T>
struct FlatInput {
  const T* elements;
  T value;
  bool moves;

  FlatInput() = default;
  FlatInput(const char* data, int64_t step, bool on_host)
      : elements(on_host ? nullptr : reinterpret_cast<const T*>(data)), value{}, moves(step != 0) {
    if (on_host) std::memcpy(&value, data, sizeof(T));
  }

  BOXCAR_HOST_DEVICE T at(int64_t i) const {
    if (elements == nullptr) return value;
    return elements[moves ? i : 0];
  }
  template <int count>
  BOXCAR_HOST_DEVICE void read(int64_t i, T* out) const {
    if (moves) {
      const auto pack = *reinterpret_cast<const Pack<T, count>*>(elements + i);
      for (int k = 0; k < count; ++k) out[k] = pack.elements[k];
    } else {
      const T one = at(0);
      for (int k = 0; k < count; ++k) out[k] = one;
    }
  }
  BOXCAR_HOST_DEVICE bool isAligned(size_t bytes) const {
    return !moves || reinterpret_cast<uintptr_t>(elements) % bytes == 0;
  }
};

inline constexpr int kPointwiseThreads = 256;

// Contiguous operands. Each thread handles a few packs, which are 16 bytes for the largest operand and
// kPointwiseThreads packs apart.
template <class F, class Out, class T, size_t arity>
struct FlatPointwiseKernel {
  static constexpr size_t kLargest = arity > 0 && sizeof(T) > sizeof(Out) ? sizeof(T) : sizeof(Out);
  static constexpr int kPack = kLargest >= 16 ? 1 : static_cast<int>(16 / kLargest);
  static constexpr int kPacks = kPack >= 8 ? 1 : kPack == 4 ? 2 : 4;
  static constexpr int64_t kPerBlock = int64_t{kPointwiseThreads} * kPack * kPacks;
  // Up to so many elements, each thread handles one: there are more multiprocessors than blocks of packs.
  static constexpr int64_t kFew = 512 * kPointwiseThreads;

  Function<F, Out, T> function;
  Out* out;
  FlatInput<T> inputs[arity == 0 ? 1 : arity];
  int64_t n;
  int64_t per_block;
  bool aligned;

  void prepare() {
    per_block = n <= kFew ? kPointwiseThreads : kPerBlock;
    aligned = per_block == kPerBlock && reinterpret_cast<uintptr_t>(out) % (sizeof(Out) * kPack) == 0;
    for (size_t k = 0; k < arity; ++k) aligned = aligned && inputs[k].isAligned(sizeof(T) * kPack);
  }

  BOXCAR_HOST_DEVICE Out one([[maybe_unused]] int64_t i) const {
    if constexpr (arity == 0) return function();
    if constexpr (arity == 1) return function(inputs[0].at(i));
    if constexpr (arity == 2) return function(inputs[0].at(i), inputs[1].at(i));
    if constexpr (arity == 3) return function(inputs[0].at(i), inputs[1].at(i), inputs[2].at(i));
  }

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t first = block * per_block;
    if (aligned && first + kPerBlock <= n) {
      // Everything is read before anything is written, so that many reads are in flight at once.
      T in[arity == 0 ? 1 : arity][kPacks][kPack];
      for (int p = 0; p < kPacks; ++p) {
        const int64_t i = first + (int64_t{p} * kPointwiseThreads + thread) * kPack;
        for (size_t k = 0; k < arity; ++k) inputs[k].template read<kPack>(i, in[k][p]);
      }
      for (int p = 0; p < kPacks; ++p) {
        const int64_t i = first + (int64_t{p} * kPointwiseThreads + thread) * kPack;
        Pack<Out, kPack> results;
        for (int k = 0; k < kPack; ++k) {
          if constexpr (arity == 0) results.elements[k] = function();
          if constexpr (arity == 1) results.elements[k] = function(in[0][p][k]);
          if constexpr (arity == 2) results.elements[k] = function(in[0][p][k], in[1][p][k]);
          if constexpr (arity == 3) results.elements[k] = function(in[0][p][k], in[1][p][k], in[2][p][k]);
        }
        *reinterpret_cast<Pack<Out, kPack>*>(out + i) = results;
      }
      return;
    }
    for (int64_t i = first + thread; i < n && i < first + per_block; i += kPointwiseThreads) out[i] = one(i);
  }
};

// Any strides; each thread handles a few elements.
template <class F, class Out, class T, size_t arity>
struct StridedPointwiseKernel {
  static constexpr int kPerThread = 4;
  static constexpr int64_t kPerBlock = int64_t{kPointwiseThreads} * kPerThread;

  Function<F, Out, T> function;
  Offsets<static_cast<int>(arity) + 1> offsets;
  char* out;
  const char* data[arity == 0 ? 1 : arity];  // null for an element passed as a launch parameter
  T values[arity == 0 ? 1 : arity];
  int64_t n;

  BOXCAR_HOST_DEVICE T read(size_t k, const int64_t* at) const {
    return data[k] == nullptr ? values[k] : *reinterpret_cast<const T*>(data[k] + at[k + 1]);
  }

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    for (int p = 0; p < kPerThread; ++p) {
      const int64_t i = block * kPerBlock + int64_t{p} * kPointwiseThreads + thread;
      if (i >= n) return;
      int64_t at[arity + 1];
      offsets.at(static_cast<uint32_t>(i), at);
      Out& result = *reinterpret_cast<Out*>(out + at[0]);
      if constexpr (arity == 0) result = function();
      if constexpr (arity == 1) result = function(read(0, at));
      if constexpr (arity == 2) result = function(read(0, at), read(1, at));
      if constexpr (arity == 3) result = function(read(0, at), read(1, at), read(2, at));
    }
  }
};

template <class F, class Out, class T, size_t arity>
struct PointwiseLaunches {
  static void flat(const FlatLaunch& launch) {
    FlatPointwiseKernel<F, Out, T, arity> kernel{{makeFunctor<F>(launch.params), launch.failure},
                                                 reinterpret_cast<Out*>(launch.data[0]),
                                                 {},
                                                 launch.n,
                                                 0,
                                                 false};
    for (size_t k = 0; k < arity; ++k) {
      kernel.inputs[k] = FlatInput<T>(launch.data[k + 1], launch.steps[k + 1], (launch.on_host >> (k + 1) & 1) != 0);
    }
    kernel.prepare();
    launchGrid<kPointwiseThreads>(blocksFor(launch.n, kernel.per_block), kernel);
  }

  static void strided(const StridedLaunch& launch) {
    StridedPointwiseKernel<F, Out, T, arity> kernel{
        {makeFunctor<F>(launch.params), launch.failure}, {}, nullptr, {}, {}, 0};
    for (size_t k = 0; k < arity; ++k) {
      if ((launch.on_host >> (k + 1) & 1) != 0) std::memcpy(&kernel.values[k], launch.data[k + 1], sizeof(T));
    }
    launch.layout->template forParts<static_cast<int>(arity) + 1>(
        [&](const Offsets<static_cast<int>(arity) + 1>& offsets, int64_t n, std::span<const int64_t> starts) {
          kernel.offsets = offsets;
          kernel.n = n;
          kernel.out = launch.data[0] + starts[0];
          for (size_t k = 0; k < arity; ++k) {
            kernel.data[k] = (launch.on_host >> (k + 1) & 1) != 0 ? nullptr : launch.data[k + 1] + starts[k + 1];
          }
          launchGrid<kPointwiseThreads>(blocksFor(n, kernel.kPerBlock), kernel);
        });
  }
};

}  // namespace detail

template <template <class> class F, size_t arity, Result result, class... Ts>
constexpr PointwiseLaunchers makeLaunchers(ElementTypes<Ts...>) {
  PointwiseLaunchers launchers{};
  ((launchers[static_cast<size_t>(scalarTypeOf<Ts>)] =
        {detail::PointwiseLaunches<F<Compute<Ts>>, ResultElement<result, Ts>, Ts, arity>::flat,
         detail::PointwiseLaunches<F<Compute<Ts>>, ResultElement<result, Ts>, Ts, arity>::strided}),
   ...);
  return launchers;
}

// Defines the launchers for one line of functors/pointwise_table.h.
#define BOXCAR_DEFINE_LAUNCHERS(functor, arity, result, types)       \
  template <>                                                        \
  const PointwiseLaunchers LaunchersOf<Functor::k##functor>::value = \
      makeLaunchers<functors::functor, arity, Result::result>(types);

}  // namespace boxcar::cuda
