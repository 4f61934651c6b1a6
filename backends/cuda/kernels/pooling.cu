#include <boxcar/backends/cuda/image_kernels.h>
#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/kernels/split.h>
#include <boxcar/backends/functors/element.h>

namespace boxcar::cuda {
namespace {

using functors::Compute;
using functors::WindowRange;

constexpr int kThreads = 256;

// A window, and where the elements of its image and channel start.
struct Window {
  int64_t first;
  WindowRange row;
  WindowRange column;
};

// Converts the linear index of a result element to its window.
template <class Index>
struct WindowOf {
  functors::Images in;
  functors::WindowAxis rows;
  functors::WindowAxis columns;
  Split<Index> inner;
  Split<Index> width;
  Split<Index> height;

  explicit WindowOf(const PoolLaunch& call)
      : in(call.images),
        rows(call.rows),
        columns(call.columns),
        inner(in.inner),
        width(columns.out),
        height(rows.out) {}

  BOXCAR_HOST_DEVICE Window at(Index number) const {
    const int64_t channel = inner.take(number);
    const WindowRange column = columns.at(width.take(number));
    const WindowRange row = rows.at(height.take(number));
    return {static_cast<int64_t>(number) * in.height * in.width * in.inner + channel, row, column};
  }
};

template <class T, class Index>
struct TakeGreatest {
  using C = Compute<T>;
  const T* in;
  T* out;
  int64_t* indices;
  int64_t count;
  WindowOf<Index> windows;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t i = block * kThreads + thread;
    if (i >= count) return;
    const auto [first, row, column] = windows.at(static_cast<Index>(i));
    const int64_t width = windows.in.width;
    C greatest = functors::lowestElement<C>();
    int64_t place = row.begin * width + column.begin;
    for (int64_t y = row.begin; y < row.end; y += windows.rows.dilation) {
      for (int64_t x = column.begin; x < column.end; x += windows.columns.dilation) {
        const int64_t at = y * width + x;
        const C element = static_cast<C>(in[first + at * windows.in.inner]);
        if (!functors::isGreater(element, greatest)) continue;
        greatest = element;
        place = at;
      }
    }
    out[i] = static_cast<T>(greatest);
    indices[i] = place;
  }
};

template <class T, class Index>
struct TakeMean {
  using C = Compute<T>;
  const T* in;
  T* out;
  int64_t count;
  WindowOf<Index> windows;
  functors::WindowDivisor divisor;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t i = block * kThreads + thread;
    if (i >= count) return;
    const auto [first, row, column] = windows.at(static_cast<Index>(i));
    C sum = 0;
    for (int64_t y = row.begin; y < row.end; ++y) {
      // Each row has its own sum, so that large windows lose fewer digits.
      C line = 0;
      for (int64_t x = column.begin; x < column.end; ++x) {
        line += static_cast<C>(in[first + (y * windows.in.width + x) * windows.in.inner]);
      }
      sum += line;
    }
    out[i] = static_cast<T>(sum / static_cast<C>(divisor.of(row, column)));
  }
};

int64_t countOf(const PoolLaunch& call) {
  return call.images.outer * call.rows.out * call.columns.out * call.images.inner;
}

}  // namespace

void launchGreatest(const PoolLaunch& call) {
  const int64_t count = countOf(call);
  visitScalarType(kRealTypes, call.type, "max_pool2d", [&]<class T>(std::type_identity<T>) {
    visitIndex(count, [&]<class Index>(std::type_identity<Index>) {
      launchGrid<kThreads>(blocksFor(count, kThreads),
                           TakeGreatest<T, Index>{static_cast<const T*>(call.in), static_cast<T*>(call.out),
                                                  call.indices, count, WindowOf<Index>(call)});
    });
  });
}

void launchMean(const PoolLaunch& call) {
  const int64_t count = countOf(call);
  constexpr auto kTypes = kFloatingTypes + ElementTypes<int64_t>{};
  visitScalarType(kTypes, call.type, "avg_pool2d", [&]<class T>(std::type_identity<T>) {
    visitIndex(count, [&]<class Index>(std::type_identity<Index>) {
      launchGrid<kThreads>(blocksFor(count, kThreads),
                           TakeMean<T, Index>{static_cast<const T*>(call.in), static_cast<T*>(call.out), count,
                                              WindowOf<Index>(call), call.divisor});
    });
  });
}

}  // namespace boxcar::cuda
