#include <boxcar/backends/cuda/image_kernels.h>
#include <boxcar/backends/cuda/kernels/launch.h>
#include <boxcar/backends/cuda/kernels/split.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/upsample.h>

namespace boxcar::cuda {
namespace {

using functors::Coordinate;

constexpr auto kResizedTypes = kFloatingTypes + ElementTypes<uint8_t>{};

constexpr int kThreads = 256;

// The position of a result element: its channel if channels are innermost, its coordinates, and its image number.
struct Place {
  int64_t channel;
  int64_t x;
  int64_t y;
  int64_t image;
};

template <class Index>
struct Places {
  Split<Index> inner;
  Split<Index> width;
  Split<Index> height;

  explicit Places(const functors::Images& images) : inner(images.inner), width(images.width), height(images.height) {}

  BOXCAR_HOST_DEVICE Place at(Index number) const {
    Place place;
    place.channel = inner.take(number);
    place.x = width.take(number);
    place.y = height.take(number);
    place.image = static_cast<int64_t>(number);
    return place;
  }
};

template <class T, class Index>
struct TakeNearest {
  const T* in;
  T* out;
  int64_t count;
  functors::Images from;
  Places<Index> places;
  functors::NearestAxis<Coordinate<T>> rows;
  functors::NearestAxis<Coordinate<T>> columns;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t i = block * kThreads + thread;
    if (i >= count) return;
    const Place place = places.at(static_cast<Index>(i));
    const int64_t row = place.image * from.height + rows.at(place.y);
    out[i] = in[(row * from.width + columns.at(place.x)) * from.inner + place.channel];
  }
};

template <class T, class Index>
struct BlendLinearly {
  using C = functors::BlendType<T>;
  const T* in;
  T* out;
  int64_t count;
  functors::Images from;
  bool is_signal;
  Places<Index> places;
  functors::LinearAxis<Coordinate<T>> rows;
  functors::LinearAxis<Coordinate<T>> columns;

  BOXCAR_HOST_DEVICE void operator()(int64_t block, int thread) const {
    const int64_t i = block * kThreads + thread;
    if (i >= count) return;
    const Place place = places.at(static_cast<Index>(i));
    const auto row = rows.at(place.y);
    const auto column = columns.at(place.x);
    const T* const image = in + place.image * from.height * from.width * from.inner + place.channel;
    const auto read = [&](int64_t y, int64_t x) { return static_cast<C>(image[(y * from.width + x) * from.inner]); };
    const auto blended = [&](int64_t x) {
      if (is_signal) return read(0, x);
      return row.low_weight * read(row.low, x) + row.high_weight * read(row.high, x);
    };
    out[i] = functors::elementOfBlend<T>(column.low_weight * blended(column.low) +
                                         column.high_weight * blended(column.high));
  }
};

int64_t countOf(const functors::Images& images) { return images.outer * images.height * images.width * images.inner; }

}  // namespace

void launchNearest(const UpsampleLaunch& call) {
  const int64_t count = countOf(call.to);
  visitScalarType(kResizedTypes, call.type, "upsample_nearest2d", [&]<class T>(std::type_identity<T>) {
    visitIndex(count, [&]<class Index>(std::type_identity<Index>) {
      using Axis = functors::NearestAxis<Coordinate<T>>;
      launchGrid<kThreads>(
          blocksFor(count, kThreads),
          TakeNearest<T, Index>{static_cast<const T*>(call.in), static_cast<T*>(call.out), count, call.from,
                                Places<Index>(call.to), Axis(call.from.height, call.to.height, call.scale_h),
                                Axis(call.from.width, call.to.width, call.scale_w)});
    });
  });
}

void launchLinear(const UpsampleLaunch& call) {
  const int64_t count = countOf(call.to);
  visitScalarType(kResizedTypes, call.type, "upsample_bilinear2d", [&]<class T>(std::type_identity<T>) {
    visitIndex(count, [&]<class Index>(std::type_identity<Index>) {
      using Axis = functors::LinearAxis<Coordinate<T>>;
      const bool is_signal = call.from.height == 1 && call.to.height == 1;
      launchGrid<kThreads>(
          blocksFor(count, kThreads),
          BlendLinearly<T, Index>{static_cast<const T*>(call.in), static_cast<T*>(call.out), count, call.from,
                                  is_signal, Places<Index>(call.to),
                                  Axis(call.from.height, call.to.height, call.align_corners, call.scale_h),
                                  Axis(call.from.width, call.to.width, call.align_corners, call.scale_w)});
    });
  });
}

}  // namespace boxcar::cuda
