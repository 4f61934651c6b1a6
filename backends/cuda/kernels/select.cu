#include <boxcar/backends/cuda/kernels/device_algorithms.h>
#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/select_kernels.h>
#include <boxcar/backends/functors/words.h>

namespace boxcar::cuda {
namespace {

constexpr int kThreads = 256;

struct IndicesAlong {
  int64_t* out;
  const int64_t* places;
  int64_t below;
  int64_t size;
  int64_t n;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t i = block * kThreads + thread;
    if (i < n) out[i] = places[i] / below % size;
  }
};

template <class Word>
struct FillMasked {
  FillMaskedLaunch call;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t i = block * kThreads + thread;
    if (i >= call.n || !call.mask[i]) return;
    const int64_t place = call.counts[i] - 1;
    if (place >= call.available) {
      noteFailure(call.failure, functors::Refusal::kIndex, place, call.available);
      return;
    }
    static_cast<Word*>(call.out)[i] = static_cast<const Word*>(call.source)[place];
  }
};

}  // namespace

size_t placesOfTrueBytes(int64_t n) { return selectPlacesBytes(n); }

void launchPlacesOfTrue(void* workspace, size_t bytes, const bool* flags, int64_t* places, int64_t* count, int64_t n) {
  selectPlaces(workspace, bytes, flags, places, count, n);
}

void launchIndicesAlong(int64_t* out, const int64_t* places, int64_t below, int64_t size, int64_t n) {
  launchGrid<kThreads>(blocksFor(n, kThreads), IndicesAlong{out, places, below, size, n});
}

void launchFillMasked(const FillMaskedLaunch& call, size_t itemsize) {
  functors::visitWord(itemsize, [&]<class Word>(std::type_identity<Word>) {
    launchGrid<kThreads>(blocksFor(call.n, kThreads), FillMasked<Word>{call});
  });
}

}  // namespace boxcar::cuda
