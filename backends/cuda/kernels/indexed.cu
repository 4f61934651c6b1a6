#include <boxcar/backends/cuda/indexed_launcher.h>
#include <boxcar/backends/cuda/kernels/atomics.h>
#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/words.h>
#include <boxcar/ivalue/error.h>

namespace boxcar::cuda {
namespace {

using functors::Combination;

constexpr int kThreads = 256;

// One thread per index and element of [beside]; [Op] is called with both addresses.
template <class Op>
struct Indexed {
  Op op;
  Offsets<3> offsets;
  char* beside;
  char* chosen;
  const char* index;
  int64_t step;
  int64_t size;
  bool wraps;
  Failure* failure;
  int64_t n;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t i = block * kThreads + thread;
    if (i >= n) return;
    int64_t at[3];
    offsets.at(static_cast<uint32_t>(i), at);
    const int64_t given = *reinterpret_cast<const int64_t*>(index + at[2]);
    const int64_t place = wraps && given < 0 ? given + size : given;
    if (place < 0 || place >= size) {
      noteFailure(failure, functors::Refusal::kIndex, given, size);
      return;
    }
    op(beside + at[0], chosen + at[1] + place * step);
  }
};

template <class Word>
struct Read {
  BOXCAR_HOST_DEVICE void operator()(char* beside, const char* chosen) const {
    *reinterpret_cast<Word*>(beside) = *reinterpret_cast<const Word*>(chosen);
  }
};
template <class Word>
struct Write {
  BOXCAR_HOST_DEVICE void operator()(const char* beside, char* chosen) const {
    *reinterpret_cast<Word*>(chosen) = *reinterpret_cast<const Word*>(beside);
  }
};
struct Look {
  BOXCAR_HOST_DEVICE void operator()(const char*, const char*) const {}
};
template <class T, Combination how>
struct CombineWith {
  T scale;
  bool scales;
  BOXCAR_HOST_DEVICE void operator()(const char* beside, char* chosen) const {
    const T value = *reinterpret_cast<const T*>(beside);
    atomicCombine(reinterpret_cast<T*>(chosen), scales ? functors::multiplyElements(scale, value) : value,
                  functors::Combine<how, T>());
  }
};

// [chosen] starts at null, so that its address is the offset.
struct AddOffset {
  BOXCAR_HOST_DEVICE void operator()(char* beside, const char* chosen) const {
    *reinterpret_cast<int64_t*>(beside) += reinterpret_cast<intptr_t>(chosen);
  }
};

template <class Op>
void run(const IndexedLaunch& launch, const Op& op) {
  launch.layout->forParts<3>([&](const Offsets<3>& offsets, int64_t n, std::span<const int64_t> starts) {
    const Indexed<Op> kernel{op,
                             offsets,
                             launch.beside + starts[0],
                             launch.chosen + starts[1],
                             launch.index + starts[2],
                             launch.step,
                             launch.size,
                             launch.wraps,
                             launch.failure,
                             n};
    launchGrid<kThreads>(blocksFor(n, kThreads), kernel);
  });
}

template <template <class> class Op>
void runWords(const IndexedLaunch& launch, size_t itemsize) {
  functors::visitWord(itemsize, [&]<class Word>(std::type_identity<Word>) { run(launch, Op<Word>()); });
}

}  // namespace

void launchReadChosen(const IndexedLaunch& launch, size_t itemsize) { runWords<Read>(launch, itemsize); }
void launchWriteChosen(const IndexedLaunch& launch, size_t itemsize) { runWords<Write>(launch, itemsize); }
void launchAddOffsets(const IndexedLaunch& launch) { run(launch, AddOffset()); }
void launchCheckChosen(const IndexedLaunch& launch) { run(launch, Look()); }

void launchCombineChosen(const IndexedLaunch& launch, ScalarType type, Combination how, const Scalar& scale) {
  visitScalarType(kAllTypes, type, "scatter", [&]<class T>(std::type_identity<T>) {
    if constexpr (!functors::kIsSmallFloat<T>) {
      const bool scales = scale != Scalar(1);
      const T factor = scales ? scale.to<T>() : T(1);
      if (how == Combination::kAdd) return run(launch, CombineWith<T, Combination::kAdd>{factor, scales});
      if constexpr (sizeof(T) < 16) {
        if (how == Combination::kMul) return run(launch, CombineWith<T, Combination::kMul>{factor, scales});
      }
      if constexpr (!functors::kIsComplex<T>) {
        if (how == Combination::kAmax) return run(launch, CombineWith<T, Combination::kAmax>{factor, scales});
        if (how == Combination::kAmin) return run(launch, CombineWith<T, Combination::kAmin>{factor, scales});
      }
      BOXCAR_FAIL("scatter on a CUDA device does not combine elements of {} in this way; move the tensors to 'cpu'",
                  dtypeName(type));
    }
  });
}

}  // namespace boxcar::cuda
