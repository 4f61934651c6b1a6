#include <boxcar/backends/cuda/bincount_kernels.h>
#include <boxcar/backends/cuda/kernels/atomics.h>
#include <boxcar/backends/cuda/kernels/launch.h>

namespace boxcar::cuda {
namespace {

constexpr int kThreads = 256;

// Each block counts its share of the numbers in bins of its own.
struct CountInShared {
  CountLaunch call;

  BOXCAR_HOST_DEVICE void operator()(const Block& block) const {
    auto* const own = block.shared<unsigned>();
    auto* const out = static_cast<unsigned long long*>(call.out);
    block.each([&](int thread) {
      for (int64_t i = thread; i < call.bins; i += kThreads) own[i] = 0;
    });
    block.each([&](int thread) {
      const int64_t step = call.blocks * kThreads;
      for (int64_t i = block.index() * kThreads + thread; i < call.n; i += step) atomicSum(own + call.numbers[i], 1U);
    });
    block.each([&](int thread) {
      for (int64_t i = thread; i < call.bins; i += kThreads) {
        if (own[i] != 0) atomicSum(out + i, static_cast<unsigned long long>(own[i]));
      }
    });
  }
};

template <class T>
struct Count {
  CountLaunch call;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t i = block * kThreads + thread;
    if (i >= call.n) return;
    const T value = call.weights != nullptr ? static_cast<const T*>(call.weights)[i] : T(1);
    atomicSum(static_cast<T*>(call.out) + call.numbers[i], value);
  }
};

template <class T>
void countInMemory(const CountLaunch& call) {
  launchGrid<kThreads>(blocksFor(call.n, kThreads), Count<T>{call});
}

}  // namespace

void launchCount(const CountLaunch& call) {
  if (call.n == 0) return;
  if (call.type == ScalarType::Float) return countInMemory<float>(call);
  if (call.type == ScalarType::Double) return countInMemory<double>(call);
  if (call.bins > kSharedBins) return countInMemory<unsigned long long>(call);
  launchBlocks<kThreads>(call.blocks, static_cast<size_t>(call.bins) * sizeof(unsigned), CountInShared{call});
}

}  // namespace boxcar::cuda
