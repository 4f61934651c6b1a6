#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/matrix_kernels.h>
#include <boxcar/backends/functors/words.h>

namespace boxcar::cuda {
namespace {

constexpr int kThreads = 256;

// One thread per element of all matrices.
template <class Word>
struct Triangle {
  TriangleLaunch launch;
  Offsets<2> batches;
  int64_t n;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t i = block * kThreads + thread;
    if (i >= n) return;
    const int64_t column = i % launch.columns;
    const int64_t row = i / launch.columns % launch.rows;
    int64_t at[2];
    batches.at(static_cast<uint32_t>(i / (launch.columns * launch.rows)), at);
    const bool keeps = launch.lower ? column - row <= launch.diagonal : column - row >= launch.diagonal;
    const char* const in = launch.in + at[1] + row * launch.steps[1][0] + column * launch.steps[1][1];
    char* const out = launch.out + at[0] + row * launch.steps[0][0] + column * launch.steps[0][1];
    *reinterpret_cast<Word*>(out) = keeps ? *reinterpret_cast<const Word*>(in) : Word{};
  }
};

template <class Word>
void run(TriangleLaunch launch) {
  const char* const in = launch.in;
  char* const out = launch.out;
  launch.batches->forParts<2>([&](const Offsets<2>& offsets, int64_t batches, std::span<const int64_t> starts) {
    launch.out = out + starts[0];
    launch.in = in + starts[1];
    const int64_t n = batches * launch.rows * launch.columns;
    launchGrid<kThreads>(blocksFor(n, kThreads), Triangle<Word>{launch, offsets, n});
  });
}

}  // namespace

void launchTriangle(const TriangleLaunch& launch) {
  functors::visitWord(launch.itemsize, [&]<class Word>(std::type_identity<Word>) { run<Word>(launch); });
}

}  // namespace boxcar::cuda
