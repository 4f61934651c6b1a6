#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/kernels/random_numbers.h>
#include <boxcar/backends/cuda/kernels/rows.h>
#include <boxcar/backends/cuda/random_kernels.h>
#include <boxcar/backends/functors/functions.h>

namespace boxcar::cuda {
namespace {

using functors::Compute;
using functors::PhiloxBlock;

constexpr int kThreads = 256;

// One thread per Philox block, which [make] turns into elements that use [words] words each.
template <class T, int words, class Make>
struct Fill {
  static constexpr int kElements = 4 / words;
  using Elements = Pack<T, kElements>;

  Make make;
  T* out;
  int64_t n;
  uint64_t seed;
  uint64_t first_block;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t number = block * kThreads + thread;
    const int64_t i = number * kElements;
    if (i >= n) return;
    Elements pack;
    make(functors::philoxBlock(seed, first_block + static_cast<uint64_t>(number)), pack.elements);
    if (i + kElements <= n && reinterpret_cast<uintptr_t>(out) % sizeof(Elements) == 0) {
      *reinterpret_cast<Elements*>(out + i) = pack;
    } else {
      for (int k = 0; k < kElements && i + k < n; ++k) out[i + k] = pack.elements[k];
    }
  }
};

template <class T, int words, class Make>
void fill(const RandomLaunch& launch, const Make& make) {
  using Kernel = Fill<T, words, Make>;
  const Kernel kernel{make, static_cast<T*>(launch.out), launch.n, launch.seed, launch.block};
  launchGrid<kThreads>(blocksFor(launch.n, int64_t{kThreads} * Kernel::kElements), kernel);
}

template <class T>
constexpr int kWords = std::is_same_v<T, double> ? 2 : 1;

template <class T>
struct Uniform {
  using C = Compute<T>;
  C low;
  C range;
  C high;

  // Rounding may reach the upper bound, which is excluded.
  BOXCAR_HOST_DEVICE void operator()(const PhiloxBlock& drawn, T* out) const {
    for (int k = 0; k < 4 / kWords<T>; ++k) {
      const T value = static_cast<T>(unitNumber<T>(drawn, k) * range + low);
      out[k] = static_cast<C>(value) < high ? value : static_cast<T>(low);
    }
  }
};

// Two normal numbers from two uniform ones (Box–Muller).
template <class T>
struct Normal {
  using C = Compute<T>;
  C mean;
  C deviation;

  BOXCAR_HOST_DEVICE void operator()(const PhiloxBlock& drawn, T* out) const {
    constexpr C kTurn = static_cast<C>(6.283185307179586476925286766559);
    for (int k = 0; k < 4 / kWords<T>; k += 2) {
      const C radius = functors::sqrt(C(-2) * functors::log(insideNumber<C>(drawn, k)));
      const C turn = kTurn * unitNumber<C>(drawn, k + 1);
      out[k] = static_cast<T>(radius * functors::cos(turn) * deviation + mean);
      out[k + 1] = static_cast<T>(radius * functors::sin(turn) * deviation + mean);
    }
  }
};

template <class T>
struct Exponential {
  using C = Compute<T>;
  C rate;

  BOXCAR_HOST_DEVICE void operator()(const PhiloxBlock& drawn, T* out) const {
    for (int k = 0; k < 4 / kWords<T>; ++k) {
      out[k] = static_cast<T>(-functors::log(insideNumber<C>(drawn, k)) / rate);
    }
  }
};

template <class T>
struct Integers {
  uint64_t base;
  uint64_t count;

  BOXCAR_HOST_DEVICE void operator()(const PhiloxBlock& drawn, T* out) const {
    for (int k = 0; k < 4; ++k) {
      out[k] = functors::convertElement<T>(static_cast<int64_t>((uint64_t{drawn.words[k]} * count >> 32) + base));
    }
  }
};

template <class T>
struct WideIntegers {
  uint64_t base;
  uint64_t count;

  BOXCAR_HOST_DEVICE void operator()(const PhiloxBlock& drawn, T* out) const {
    for (int k = 0; k < 2; ++k) {
      const uint64_t bits = longWord(drawn, k);
      out[k] = functors::convertElement<T>(static_cast<int64_t>((count == 0 ? bits : bits % count) + base));
    }
  }
};

template <class T>
struct Ones {
  uint64_t below;

  BOXCAR_HOST_DEVICE void operator()(const PhiloxBlock& drawn, T* out) const {
    for (int k = 0; k < 4; ++k) out[k] = functors::convertElement<T>(drawn.words[k] < below);
  }
};

template <class T>
void fillFloats(const RandomLaunch& launch) {
  using C = Compute<T>;
  constexpr int kEach = kWords<T>;
  if (launch.distribution == Distribution::kUniform) {
    // The bounds are rounded to the element type, and so is their difference.
    const C low = static_cast<C>(static_cast<T>(launch.first));
    const C high = static_cast<C>(static_cast<T>(launch.second));
    fill<T, kEach>(launch, Uniform<T>{low, static_cast<C>(static_cast<T>(high - low)), high});
  } else if (launch.distribution == Distribution::kNormal) {
    fill<T, kEach>(launch, Normal<T>{static_cast<C>(launch.first), static_cast<C>(launch.second)});
  } else {
    fill<T, kEach>(launch, Exponential<T>{static_cast<C>(launch.first)});
  }
}

template <class P>
struct OnesOfEach {
  const P* p;
  bool* out;
  int64_t n;
  uint64_t seed;
  uint64_t first_block;
  Failure* failure;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t number = block * kThreads + thread;
    if (number * 4 >= n) return;
    const PhiloxBlock drawn = functors::philoxBlock(seed, first_block + static_cast<uint64_t>(number));
    for (int k = 0; k < 4 && number * 4 + k < n; ++k) {
      const double probability = static_cast<double>(p[number * 4 + k]);
      if (!(probability >= 0 && probability <= 1)) noteFailure(failure, functors::Refusal::kNotProbability);
      out[number * 4 + k] = static_cast<double>(drawn.words[k]) * 0x1p-32 < probability;
    }
  }
};

}  // namespace

void launchRandom(const RandomLaunch& launch) {
  if (launch.distribution == Distribution::kOnes) {
    return visitScalarType(kAllTypes, launch.type, "bernoulli_",
                           [&]<class T>(std::type_identity<T>) { fill<T, 1>(launch, Ones<T>{launch.count}); });
  }
  if (launch.distribution == Distribution::kIntegers) {
    return visitScalarType(kRealAndBoolTypes, launch.type, "random_", [&]<class T>(std::type_identity<T>) {
      const auto base = static_cast<uint64_t>(launch.base);
      if (launch.words() == 2) {
        fill<T, 2>(launch, WideIntegers<T>{base, launch.count});
      } else {
        fill<T, 1>(launch, Integers<T>{base, launch.count});
      }
    });
  }
  visitScalarType(kFloatingTypes, launch.type, "uniform_",
                  [&]<class T>(std::type_identity<T>) { fillFloats<T>(launch); });
}

void launchOnesOfEach(const OnesLaunch& launch) {
  const auto run = [&]<class P>(std::type_identity<P>) {
    launchGrid<kThreads>(blocksFor(launch.n, int64_t{kThreads} * 4),
                         OnesOfEach<P>{static_cast<const P*>(launch.p), launch.out, launch.n, launch.seed, launch.block,
                                       launch.failure});
  };
  launch.type == ScalarType::Double ? run(std::type_identity<double>()) : run(std::type_identity<float>());
}

}  // namespace boxcar::cuda
