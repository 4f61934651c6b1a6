#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/upsample.h>
#include <boxcar/backends/native/upsample.h>

#include <algorithm>
#include <vector>

// The source position of each row and column of the result is computed once.

namespace boxcar::cpu {
namespace {

constexpr auto kResizedTypes = kFloatingTypes + ElementTypes<uint8_t>{};

// Returns the value of [axis] at each of [out] positions.
template <class Axis>
auto placesOf(const Axis& axis, int64_t out) {
  std::vector<decltype(axis.at(0))> places(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) places[static_cast<size_t>(i)] = axis.at(i);
  return places;
}

// Calls body(image, y, out) for each row of the result: the image index, the row index, and the start of the row.
// Threads share the rows; makeBody() creates a body for each thread, which may hold memory.
template <class T, class MakeBody>
void forEachRow(const Images& out, T* data, const MakeBody& makeBody) {
  const int64_t row = out.width * out.inner;
  parallelFor(0, out.outer * out.height, kParallelGrain / std::max<int64_t>(row, 1) + 1,
              [&](int64_t first, int64_t last) {
                auto body = makeBody();
                for (int64_t i = first; i < last; ++i) body(i / out.height, i % out.height, data + i * row);
              });
}

template <class T>
void takeNearest(const Upsampling& call, const T* from, T* to) {
  using Axis = NearestAxis<Coordinate<T>>;
  const Images& in = call.in;
  const Images& out = call.out;
  const std::vector<int64_t> rows = placesOf(Axis(in.height, out.height, call.scale_h), out.height);
  const std::vector<int64_t> columns = placesOf(Axis(in.width, out.width, call.scale_w), out.width);
  const int64_t inner = in.inner;
  forEachRow(out, to, [&] {
    return [&](int64_t image, int64_t y, T* place) {
      const T* row = from + (image * in.height + rows[static_cast<size_t>(y)]) * in.width * inner;
      if (inner == 1) {
        for (int64_t x = 0; x < out.width; ++x) place[x] = row[columns[static_cast<size_t>(x)]];
        return;
      }
      for (const int64_t x : columns) place = std::copy_n(row + x * inner, inner, place);
    };
  });
}

template <class T>
void blendLinearly(const Upsampling& call, const T* from, T* to) {
  using C = BlendType<T>;
  using Axis = LinearAxis<Coordinate<T>>;
  const Images& in = call.in;
  const Images& out = call.out;
  const auto rows = placesOf(Axis(in.height, out.height, call.align_corners, call.scale_h), out.height);
  const auto columns = placesOf(Axis(in.width, out.width, call.align_corners, call.scale_w), out.width);
  const bool is_signal = in.height == 1 && out.height == 1;
  const int64_t inner = in.inner;
  const int64_t width = in.width * inner;
  // Two rows are interpolated to one; each element of the result's row then uses two of its columns.
  forEachRow(out, to, [&] {
    return [&, line = std::vector<C>(static_cast<size_t>(width))](int64_t image, int64_t y, T* place) mutable {
      const auto& row = rows[static_cast<size_t>(y)];
      const T* low = from + (image * in.height + row.low) * width;
      const T* high = from + (image * in.height + row.high) * width;
      C* blended = line.data();
      if (is_signal) {
        for (int64_t x = 0; x < width; ++x) blended[x] = static_cast<C>(low[x]);
      } else {
        for (int64_t x = 0; x < width; ++x) {
          blended[x] = row.low_weight * static_cast<C>(low[x]) + row.high_weight * static_cast<C>(high[x]);
        }
      }
      for (const auto& column : columns) {
        const C* left = blended + column.low * inner;
        const C* right = blended + column.high * inner;
        for (int64_t c = 0; c < inner; ++c) {
          *place++ = elementOfBlend<T>(column.low_weight * left[c] + column.high_weight * right[c]);
        }
      }
    };
  });
}

void nearest(const Upsampling& call, const Tensor& out, const Tensor& self) {
  visitScalarType(kResizedTypes, self.scalar_type(), "upsample_nearest2d", [&]<class T>(std::type_identity<T>) {
    takeNearest(call, self.const_data_ptr<T>(), out.mutable_data_ptr<T>());
  });
}

void linear(const Upsampling& call, const Tensor& out, const Tensor& self) {
  visitScalarType(kResizedTypes, self.scalar_type(), "upsample_bilinear2d", [&]<class T>(std::type_identity<T>) {
    blendLinearly(call, self.const_data_ptr<T>(), out.mutable_data_ptr<T>());
  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, upsampleNearest, cpu::nearest)
BOXCAR_REGISTER_STUB(CPU, upsampleLinear, cpu::linear)

}  // namespace boxcar::native
