#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/vector_kernels.h>
#include <boxcar/backends/functors/cross.h>

namespace boxcar::cuda {
namespace {

constexpr int kThreads = 256;

// One thread per line.
template <class T>
struct Cross {
  CrossLaunch call;
  Offsets<3> offsets;
  int64_t n;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t i = block * kThreads + thread;
    if (i >= n) return;
    int64_t at[3];
    offsets.at(static_cast<uint32_t>(i), at);
    functors::crossProduct<T>(call.data[0] + at[0], call.steps[0], call.data[1] + at[1], call.steps[1],
                              call.data[2] + at[2], call.steps[2]);
  }
};

}  // namespace

void launchCross(const CrossLaunch& call) {
  visitScalarType(kRealTypes + kComplexTypes, call.type, "cross", [&]<class T>(std::type_identity<T>) {
    call.lines->forParts<3>([&](const Offsets<3>& offsets, int64_t n, std::span<const int64_t> starts) {
      Cross<T> kernel{call, offsets, n};
      for (size_t i = 0; i < 3; ++i) kernel.call.data[i] += starts[i];
      launchGrid<kThreads>(blocksFor(n, kThreads), kernel);
    });
  });
}

}  // namespace boxcar::cuda
