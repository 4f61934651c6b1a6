#include <boxcar/backends/cuda/image_kernels.h>
#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/kernels/split.h>
#include <boxcar/backends/functors/words.h>

namespace boxcar::cuda {
namespace {

constexpr int kThreads = 256;

// One thread per element of the result.
template <class Word, class Index>
struct Pad {
  const Word* in;
  Word* out;
  int64_t count;
  functors::PaddedAxis axes[3];
  Split<Index> splits[3];

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t i = block * kThreads + thread;
    if (i >= count) return;
    auto number = static_cast<Index>(i);
    int64_t source = 0;
    int64_t step = 1;
    for (int dim = 2; dim >= 0; --dim) {
      source += axes[dim].source(splits[dim].take(number)) * step;
      step *= axes[dim].size;
    }
    out[i] = in[source + static_cast<int64_t>(number) * step];
  }
};

}  // namespace

void launchPad(const PadLaunch& call) {
  functors::visitWord(call.itemsize, [&]<class Word>(std::type_identity<Word>) {
    visitIndex(call.count, [&]<class Index>(std::type_identity<Index>) {
      using Axis = Split<Index>;
      const auto& axes = call.axes;
      launchGrid<kThreads>(blocksFor(call.count, kThreads),
                           Pad<Word, Index>{static_cast<const Word*>(call.in),
                                            static_cast<Word*>(call.out),
                                            call.count,
                                            {axes[0], axes[1], axes[2]},
                                            {Axis(axes[0].padded), Axis(axes[1].padded), Axis(axes[2].padded)}});
    });
  });
}

}  // namespace boxcar::cuda
