#include <boxcar/backends/cuda/copy_kernels.h>
#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/words.h>

namespace boxcar::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kPerThread = 4;
constexpr int64_t kPerBlock = int64_t{kThreads} * kPerThread;

// Copies elements of one type as plain words.
template <class Word>
struct Move {
  Offsets<2> offsets;
  char* out;
  const char* in;
  int64_t n;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    Word words[kPerThread];
    int64_t at[kPerThread][2];
    for (int p = 0; p < kPerThread; ++p) {
      const int64_t i = block * kPerBlock + int64_t{p} * kThreads + thread;
      if (i >= n) break;
      offsets.at(static_cast<uint32_t>(i), at[p]);
      words[p] = *reinterpret_cast<const Word*>(in + at[p][1]);
    }
    for (int p = 0; p < kPerThread; ++p) {
      const int64_t i = block * kPerBlock + int64_t{p} * kThreads + thread;
      if (i >= n) break;
      *reinterpret_cast<Word*>(out + at[p][0]) = words[p];
    }
  }
};

// The source type is selected at run time in the kernel, with the same choice in all threads.
template <class To>
struct Convert {
  Offsets<2> offsets;
  char* out;
  const char* in;
  int64_t n;
  ScalarType from;

  template <class From>
  BOXCAR_HOST_DEVICE static To read(const char* in) {
    return functors::convertElement<To>(*reinterpret_cast<const From*>(in));
  }
  BOXCAR_HOST_DEVICE To readAs(const char* in) const {
    switch (from) {
      case ScalarType::Bool: return read<bool>(in);
      case ScalarType::Byte: return read<uint8_t>(in);
      case ScalarType::Char: return read<int8_t>(in);
      case ScalarType::Short: return read<int16_t>(in);
      case ScalarType::Int: return read<int32_t>(in);
      case ScalarType::Long: return read<int64_t>(in);
      case ScalarType::Half: return read<Half>(in);
      case ScalarType::BFloat16: return read<BFloat16>(in);
      case ScalarType::Float: return read<float>(in);
      case ScalarType::Double: return read<double>(in);
      case ScalarType::ComplexFloat: return read<std::complex<float>>(in);
      default: return read<std::complex<double>>(in);
    }
  }

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    for (int p = 0; p < kPerThread; ++p) {
      const int64_t i = block * kPerBlock + int64_t{p} * kThreads + thread;
      if (i >= n) return;
      int64_t at[2];
      offsets.at(static_cast<uint32_t>(i), at);
      *reinterpret_cast<To*>(out + at[0]) = readAs(in + at[1]);
    }
  }
};

template <class Kernel>
void run(Kernel kernel, char* target, const char* source, const StridedLayout& layout) {
  layout.forParts<2>([&](const Offsets<2>& offsets, int64_t n, std::span<const int64_t> starts) {
    kernel.offsets = offsets;
    kernel.out = target + starts[0];
    kernel.in = source + starts[1];
    kernel.n = n;
    launchGrid<kThreads>(blocksFor(n, kPerBlock), kernel);
  });
}

}  // namespace

void copyStrided(char* target, ScalarType to, const char* source, ScalarType from, const StridedLayout& layout) {
  if (to == from) {
    return functors::visitWord(
        elementSize(to), [&]<class Word>(std::type_identity<Word>) { run(Move<Word>{}, target, source, layout); });
  }
  visitScalarType(kAllTypes, to, "copy", [&]<class To>(std::type_identity<To>) {
    Convert<To> kernel{};
    kernel.from = from;
    run(kernel, target, source, layout);
  });
}

}  // namespace boxcar::cuda
