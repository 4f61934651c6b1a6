#include <boxcar/backends/cuda/image_kernels.h>
#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/kernels/split.h>
#include <boxcar/backends/functors/words.h>

namespace boxcar::cuda {
namespace {

constexpr int kThreads = 256;

// One thread per element of the columns. Neighboring threads work on one row and read neighboring inputs.
template <class Word, class Index>
struct WriteColumns {
  const Word* in;
  Word* columns;
  int64_t count;
  int64_t begin;
  functors::ConvolvedAxis axes[3];
  Split<Index> window;
  Split<Index> kernel[3];
  Split<Index> out[3];

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t i = block * kThreads + thread;
    if (i >= count) return;
    auto number = static_cast<Index>(i);
    auto place = static_cast<Index>(begin + window.take(number));
    int64_t source = 0;
    int64_t step = 1;
    bool is_inside = true;
    for (int dim = 2; dim >= 0; --dim) {
      const int64_t at = axes[dim].index(kernel[dim].take(number), out[dim].take(place));
      is_inside = is_inside && at >= 0;
      source += at * step;
      step *= axes[dim].in;
    }
    columns[i] = is_inside ? in[static_cast<int64_t>(number) * step + source] : Word{};
  }
};

}  // namespace

void launchColumns(const ColumnsLaunch& call) {
  const auto& axes = call.axes;
  const int64_t count = call.channels * axes[0].kernel * axes[1].kernel * axes[2].kernel * call.count;
  const int64_t windows = axes[0].out * axes[1].out * axes[2].out;
  functors::visitWord(call.itemsize, [&]<class Word>(std::type_identity<Word>) {
    visitIndex(count > windows ? count : windows, [&]<class Index>(std::type_identity<Index>) {
      using Axis = Split<Index>;
      launchGrid<kThreads>(blocksFor(count, kThreads),
                           WriteColumns<Word, Index>{static_cast<const Word*>(call.in),
                                                     static_cast<Word*>(call.columns),
                                                     count,
                                                     call.begin,
                                                     {axes[0], axes[1], axes[2]},
                                                     Axis(call.count),
                                                     {Axis(axes[0].kernel), Axis(axes[1].kernel), Axis(axes[2].kernel)},
                                                     {Axis(axes[0].out), Axis(axes[1].out), Axis(axes[2].out)}});
    });
  });
}

}  // namespace boxcar::cuda
