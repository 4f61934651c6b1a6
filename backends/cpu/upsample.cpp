#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/pictures.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/dense/write_out.h>
#include <boxcar/backends/elements/element.h>
#include <boxcar/backends/shape/upsample.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

// Signals and pictures of another size. Where each row and each column of the result comes from is worked out once.

namespace boxcar::cpu {
namespace {

using IntSpan = std::span<const int64_t>;
using Scale = std::optional<double>;

constexpr auto kNearestTypes = kFloatingTypes + ElementTypes<uint8_t>{};

// What positions and weights are computed in.
template <class T>
using Coordinate = std::conditional_t<std::is_same_v<T, double>, double, float>;

// The step in the input for one in the result. A factor that the caller gave counts more than what the sizes say.
template <class C>
C stepOf(int64_t in, int64_t out, Scale scale) {
  if (scale.has_value() && *scale > 0) return static_cast<C>(1.0 / *scale);
  return static_cast<C>(in) / static_cast<C>(out);
}

// The indices of a dimension of [in] elements that one of [out] takes.
template <class C>
std::vector<int64_t> nearestIndices(int64_t in, int64_t out, Scale scale) {
  const C step = stepOf<C>(in, out, scale);
  std::vector<int64_t> indices(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    const C position = std::min(std::floor(static_cast<C>(i) * step), static_cast<C>(in - 1));
    indices[static_cast<size_t>(i)] = std::min(static_cast<int64_t>(position), in - 1);
  }
  return indices;
}

// Two neighbours, and the weights with which they make an element of the result.
template <class C>
struct Blend {
  int64_t low;
  int64_t high;
  C low_weight;
  C high_weight;
};

template <class C>
std::vector<Blend<C>> linearBlends(int64_t in, int64_t out, bool align_corners, Scale scale) {
  std::vector<Blend<C>> blends(static_cast<size_t>(out));
  C step = 0;
  if (!align_corners) {
    step = stepOf<C>(in, out, scale);
  } else if (out > 1) {
    step = static_cast<C>(in - 1) / static_cast<C>(out - 1);
  }
  for (int64_t i = 0; i < out; ++i) {
    const auto place = static_cast<C>(i);
    C position = align_corners ? place * step : std::max((place + C(0.5)) * step - C(0.5), C(0));
    if (in == out) position = place;
    const auto low = static_cast<int64_t>(std::min(position, static_cast<C>(in - 1)));
    const int64_t bounded = std::min(low, in - 1);
    const C fraction = std::clamp(position - static_cast<C>(bounded), C(0), C(1));
    blends[static_cast<size_t>(i)] = {bounded, std::min(bounded + 1, in - 1), C(1) - fraction, fraction};
  }
  return blends;
}

// Calls body(picture, y, out) for each row of the result: the number of the picture, the row's, and where it begins.
// Threads share them; makeBody() makes a body for each, which may keep memory.
template <class T, class MakeBody>
void forEachRow(const Pictures& out, T* data, const MakeBody& makeBody) {
  const int64_t row = out.width * out.inner;
  parallelFor(0, out.outer * out.height, kParallelGrain / std::max<int64_t>(row, 1) + 1,
              [&](int64_t first, int64_t last) {
                auto body = makeBody();
                for (int64_t i = first; i < last; ++i) body(i / out.height, i % out.height, data + i * row);
              });
}

template <class T>
void takeNearest(const Pictures& in, const Pictures& out, const T* from, T* to, Scale scale_h, Scale scale_w) {
  const std::vector<int64_t> rows = nearestIndices<Coordinate<T>>(in.height, out.height, scale_h);
  const std::vector<int64_t> columns = nearestIndices<Coordinate<T>>(in.width, out.width, scale_w);
  const int64_t inner = in.inner;
  forEachRow(out, to, [&] {
    return [&](int64_t picture, int64_t y, T* place) {
      const T* row = from + (picture * in.height + rows[static_cast<size_t>(y)]) * in.width * inner;
      if (inner == 1) {
        for (int64_t x = 0; x < out.width; ++x) place[x] = row[columns[static_cast<size_t>(x)]];
        return;
      }
      for (const int64_t x : columns) place = std::copy_n(row + x * inner, inner, place);
    };
  });
}

template <class T>
void blendLinearly(const Pictures& in, const Pictures& out, const T* from, T* to, bool align_corners, Scale scale_h,
                   Scale scale_w) {
  using C = Compute<T>;
  const auto rows = linearBlends<Coordinate<T>>(in.height, out.height, align_corners, scale_h);
  const auto columns = linearBlends<Coordinate<T>>(in.width, out.width, align_corners, scale_w);
  const bool is_signal = in.height == 1 && out.height == 1;
  const int64_t inner = in.inner;
  const int64_t width = in.width * inner;
  // Two rows are made one, of which the result's row then takes two columns each.
  forEachRow(out, to, [&] {
    return [&, line = std::vector<C>(static_cast<size_t>(width))](int64_t picture, int64_t y, T* place) mutable {
      const auto& row = rows[static_cast<size_t>(y)];
      const T* low = from + (picture * in.height + row.low) * width;
      const T* high = from + (picture * in.height + row.high) * width;
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
          *place++ = static_cast<T>(column.low_weight * left[c] + column.high_weight * right[c]);
        }
      }
    };
  });
}

// A tensor of the sizes that [self] is brought to, filled by fill(in, out, from, to) for elements of one of [types].
template <class Fill, class... Ts>
Tensor upsample(std::string_view op, const Tensor& self, IntSpan output_size, ElementTypes<Ts...> types,
                const Fill& fill) {
  checkCpuOrMeta(self);
  const DimVector sizes = shape::upsampledSizes(op, self, output_size);
  const bool channels_last = shape::suggestsChannelsLast(self);
  const Tensor out = shape::allocateSpatial(sizes, channels_last, self.scalar_type(), self.device());
  const size_t rank = output_size.size();
  visitScalarType(types, self.scalar_type(), op, [&]<class T>(std::type_identity<T>) {
    if (out.is_meta() || out.numel() == 0) return;
    const Tensor source = inFormat(self, channels_last);
    fill(picturesOf(source, channels_last, rank), picturesOf(out, channels_last, rank),
         static_cast<const T*>(source.data_ptr()), static_cast<T*>(out.data_ptr()));
  });
  return out;
}

void checkRank(std::string_view op, IntSpan output_size, size_t rank) {
  BOXCAR_CHECK(output_size.size() == rank, "{}: output_size must be a list of {} ints, but it is {}", op, rank,
               shape::listOf(output_size));
}

Tensor nearest(std::string_view op, const Tensor& self, IntSpan output_size, Scale scale_h, Scale scale_w) {
  return upsample(op, self, output_size, kNearestTypes,
                  [&](const Pictures& in, const Pictures& out, const auto* from, auto* to) {
                    takeNearest(in, out, from, to, scale_h, scale_w);
                  });
}

Tensor linear(std::string_view op, const Tensor& self, IntSpan output_size, bool align_corners, Scale scale_h,
              Scale scale_w) {
  return upsample(op, self, output_size, kFloatingTypes,
                  [&](const Pictures& in, const Pictures& out, const auto* from, auto* to) {
                    blendLinearly(in, out, from, to, align_corners, scale_h, scale_w);
                  });
}

Tensor nearest1d(const Tensor& self, IntSpan output_size, Scale scale) {
  checkRank("upsample_nearest1d", output_size, 1);
  return nearest("upsample_nearest1d", self, output_size, std::nullopt, scale);
}
Tensor& nearest1dOut(const Tensor& self, IntSpan output_size, Scale scale, Tensor& out) {
  return writePictures(out, nearest1d(self, output_size, scale), self);
}

Tensor nearest2d(const Tensor& self, IntSpan output_size, Scale scale_h, Scale scale_w) {
  checkRank("upsample_nearest2d", output_size, 2);
  return nearest("upsample_nearest2d", self, output_size, scale_h, scale_w);
}
Tensor& nearest2dOut(const Tensor& self, IntSpan output_size, Scale scale_h, Scale scale_w, Tensor& out) {
  return writePictures(out, nearest2d(self, output_size, scale_h, scale_w), self);
}

Tensor linear1d(const Tensor& self, IntSpan output_size, bool align_corners, Scale scale) {
  checkRank("upsample_linear1d", output_size, 1);
  return linear("upsample_linear1d", self, output_size, align_corners, std::nullopt, scale);
}
Tensor& linear1dOut(const Tensor& self, IntSpan output_size, bool align_corners, Scale scale, Tensor& out) {
  return writePictures(out, linear1d(self, output_size, align_corners, scale), self);
}

Tensor bilinear2d(const Tensor& self, IntSpan output_size, bool align_corners, Scale scale_h, Scale scale_w) {
  checkRank("upsample_bilinear2d", output_size, 2);
  return linear("upsample_bilinear2d", self, output_size, align_corners, scale_h, scale_w);
}
Tensor& bilinear2dOut(const Tensor& self, IntSpan output_size, bool align_corners, Scale scale_h, Scale scale_w,
                      Tensor& out) {
  return writePictures(out, bilinear2d(self, output_size, align_corners, scale_h, scale_w), self);
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  m.impl("upsample_nearest1d", BOXCAR_FN(nearest1d));
  m.impl("upsample_nearest1d.out", BOXCAR_FN(nearest1dOut));
  m.impl("upsample_nearest2d", BOXCAR_FN(nearest2d));
  m.impl("upsample_nearest2d.out", BOXCAR_FN(nearest2dOut));
  m.impl("upsample_linear1d", BOXCAR_FN(linear1d));
  m.impl("upsample_linear1d.out", BOXCAR_FN(linear1dOut));
  m.impl("upsample_bilinear2d", BOXCAR_FN(bilinear2d));
  m.impl("upsample_bilinear2d.out", BOXCAR_FN(bilinear2dOut));
}

}  // namespace boxcar::cpu
