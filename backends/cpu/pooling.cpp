#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/pictures.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/dense/write_out.h>
#include <boxcar/backends/elements/arithmetic.h>
#include <boxcar/backends/elements/element.h>
#include <boxcar/backends/shape/pooling.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

// Every pool is a loop over windows, each a range of rows and one of columns: the sliding ones' of one length, the
// adaptive ones' as they divide the input.

namespace boxcar::cpu {
namespace {

using IntSpan = std::span<const int64_t>;
using Pair = std::tuple<Tensor, Tensor>;
using PairReference = std::tuple<Tensor&, Tensor&>;

// The part of a window along one dimension that lies in the input: [begin, end) in steps, and how long it is with the
// padding.
struct Range {
  int64_t begin;
  int64_t end;
  int64_t extent;
};

using Axis = std::vector<Range>;

Axis slidingAxis(const shape::Pool2d& pool, size_t i, int64_t in, int64_t out) {
  Axis axis;
  axis.reserve(static_cast<size_t>(out));
  const int64_t step = pool.dilation[i];
  for (int64_t o = 0; o < out; ++o) {
    const int64_t start = o * pool.stride[i] - pool.padding[i];
    const int64_t end = start + (pool.kernel[i] - 1) * step + 1;
    const int64_t skipped = start < 0 ? (-start + step - 1) / step * step : 0;
    axis.push_back({start + skipped, std::min(end, in), std::min(end, in + pool.padding[i]) - start});
  }
  return axis;
}

Axis adaptiveAxis(int64_t in, int64_t out) {
  Axis axis;
  axis.reserve(static_cast<size_t>(out));
  for (int64_t o = 0; o < out; ++o) {
    const int64_t begin = o / out * in + o % out * in / out;
    const int64_t end = begin + ((o + 1) * in - begin * out + out - 1) / out;
    axis.push_back({begin, end, end - begin});
  }
  return axis;
}

// A pool over pictures, and the windows' ranges.
struct Windows {
  Pictures in;
  Axis rows;
  Axis columns;
  int64_t row_step = 1;
  int64_t column_step = 1;

  // Calls body(picture, row, to) for each row of windows: where the picture begins, the range of rows, and the place in
  // the result. Threads share them; makeBody() makes a body for each, which may keep memory.
  template <class MakeBody>
  void forEachRow(const MakeBody& makeBody) const {
    const auto height = static_cast<int64_t>(rows.size());
    const auto width = static_cast<int64_t>(columns.size());
    const int64_t rows_each = std::max<int64_t>(in.height / std::max<int64_t>(height, 1), 1);
    const int64_t work = std::max<int64_t>((width + rows_each * in.width) * in.inner, 1);
    parallelFor(0, in.outer * height, kParallelGrain / work + 1, [&](int64_t first, int64_t last) {
      auto body = makeBody();
      for (int64_t i = first; i < last; ++i) {
        body(i / height * in.height * in.width * in.inner, rows[static_cast<size_t>(i % height)], i * width * in.inner);
      }
    });
  }
};

// What is below all elements: a window that meets only padding between its steps has none.
template <class T>
const T kLowest = std::numeric_limits<T>::lowest();
template <>
const float kLowest<float> = -std::numeric_limits<float>::infinity();
template <>
const double kLowest<double> = -std::numeric_limits<double>::infinity();
template <>
const Half kLowest<Half> = Half(-std::numeric_limits<float>::infinity());
template <>
const BFloat16 kLowest<BFloat16> = BFloat16(-std::numeric_limits<float>::infinity());

// The greatest element of a column of a window, and how many rows below the window's first it is.
template <class T>
struct Greatest {
  T value;
  int32_t row;

  // Of several equal ones the first row by row counts, of several NaN the last.
  bool yieldsTo(const Greatest& other) const {
    if (isNan(other.value)) return !isNan(value) || other.row >= row;
    return other.value > value || (other.value == value && other.row < row);
  }
};

// The rows of a window are brought down to one, of which windows then take the columns.
template <class T>
void takeGreatest(const Windows& windows, const T* in, T* out, int64_t* indices) {
  using C = Compute<T>;
  const int64_t inner = windows.in.inner;
  const int64_t width = windows.in.width * inner;
  windows.forEachRow([&] {
    return [&, values = std::vector<C>(static_cast<size_t>(width)),
            places = std::vector<int32_t>(static_cast<size_t>(width))](int64_t picture, const Range& row,
                                                                       int64_t to) mutable {
      C* value = values.data();
      int32_t* place = places.data();
      std::fill_n(value, width, static_cast<C>(kLowest<T>));
      std::fill_n(place, width, 0);
      for (int64_t y = row.begin; y < row.end; y += windows.row_step) {
        const T* line = in + picture + y * width;
        const auto below = static_cast<int32_t>(y - row.begin);
        for (int64_t x = 0; x < width; ++x) {
          const C element = static_cast<C>(line[x]);
          const bool takes = element > value[x] || isNan(element);
          value[x] = takes ? element : value[x];
          place[x] = takes ? below : place[x];
        }
      }
      for (const Range& column : windows.columns) {
        for (int64_t c = 0; c < inner; ++c, ++to) {
          Greatest<C> best{static_cast<C>(kLowest<T>), 0};
          int64_t best_x = column.begin;
          for (int64_t x = column.begin; x < column.end; x += windows.column_step) {
            const Greatest<C> other{value[x * inner + c], place[x * inner + c]};
            if (!best.yieldsTo(other)) continue;
            best = other;
            best_x = x;
          }
          out[to] = static_cast<T>(best.value);
          indices[to] = (row.begin + best.row) * windows.in.width + best_x;
        }
      }
    };
  });
}

// [divisor]: what sums are divided by, of the window's ranges.
template <class T, class Divisor>
void takeMean(const Windows& windows, const T* in, T* out, const Divisor& divisor) {
  using C = Compute<T>;
  const int64_t inner = windows.in.inner;
  const int64_t width = windows.in.width * inner;
  windows.forEachRow([&] {
    return
        [&, sums = std::vector<C>(static_cast<size_t>(width))](int64_t picture, const Range& row, int64_t to) mutable {
          C* sum = sums.data();
          std::fill_n(sum, width, C(0));
          for (int64_t y = row.begin; y < row.end; ++y) {
            const T* line = in + picture + y * width;
            for (int64_t x = 0; x < width; ++x) sum[x] += static_cast<C>(line[x]);
          }
          for (const Range& column : windows.columns) {
            const bool is_empty = row.begin >= row.end || column.begin >= column.end;
            const C count = is_empty ? C(1) : static_cast<C>(divisor(row, column));
            for (int64_t c = 0; c < inner; ++c, ++to) {
              C total = C(0);
              for (int64_t x = column.begin; x < column.end; ++x) total += sum[x * inner + c];
              out[to] = static_cast<T>(total / count);
            }
          }
        };
  });
}

// The windows that [pool] makes of [self].
Windows slidingWindows(const shape::Pool2d& pool, const Tensor& self) {
  const Pictures in = picturesOf(self, pool.channels_last);
  const IntSpan out = IntSpan(pool.output_sizes).last(2);
  return {in, slidingAxis(pool, 0, in.height, out[0]), slidingAxis(pool, 1, in.width, out[1]), pool.dilation[0],
          pool.dilation[1]};
}

Windows adaptiveWindows(const shape::AdaptivePool2d& pool, const Tensor& self) {
  const Pictures in = picturesOf(self, pool.channels_last);
  const IntSpan out = IntSpan(pool.output_sizes).last(2);
  return {in, adaptiveAxis(in.height, out[0]), adaptiveAxis(in.width, out[1])};
}

// The greatest elements of the windows that makeWindows() gives, and their places.
template <class Pool, class MakeWindows>
Pair greatest(const char* op, const Pool& pool, const Tensor& self, const MakeWindows& makeWindows) {
  const auto allocate = [&](ScalarType type) {
    return shape::allocateSpatial(pool.output_sizes, pool.channels_last, type, self.device());
  };
  Pair result{allocate(self.scalar_type()), allocate(ScalarType::Long)};
  const auto& [out, indices] = result;
  visitScalarType(kRealTypes, self.scalar_type(), op, [&]<class T>(std::type_identity<T>) {
    if (out.is_meta() || out.numel() == 0) return;
    const Tensor source = inFormat(self, pool.channels_last);
    takeGreatest(makeWindows(pool, source), static_cast<const T*>(source.data_ptr()), static_cast<T*>(out.data_ptr()),
                 static_cast<int64_t*>(indices.data_ptr()));
  });
  return result;
}

template <class Pool, class MakeWindows, class Divisor, class... Ts>
Tensor mean(const char* op, const Pool& pool, const Tensor& self, const MakeWindows& makeWindows,
            const Divisor& divisor, ElementTypes<Ts...> types) {
  const Tensor out = shape::allocateSpatial(pool.output_sizes, pool.channels_last, self.scalar_type(), self.device());
  visitScalarType(types, self.scalar_type(), op, [&]<class T>(std::type_identity<T>) {
    if (out.is_meta() || out.numel() == 0) return;
    const Tensor source = inFormat(self, pool.channels_last);
    takeMean(makeWindows(pool, source), static_cast<const T*>(source.data_ptr()), static_cast<T*>(out.data_ptr()),
             divisor);
  });
  return out;
}

Pair maxPool2d(const Tensor& self, IntSpan kernel_size, IntSpan stride, IntSpan padding, IntSpan dilation,
               bool ceil_mode) {
  constexpr const char* kName = "max_pool2d";
  checkCpuOrMeta(self);
  return greatest(kName, shape::checkPool2d(kName, self, kernel_size, stride, padding, dilation, ceil_mode), self,
                  slidingWindows);
}
PairReference maxPool2dOut(const Tensor& self, IntSpan kernel_size, IntSpan stride, IntSpan padding, IntSpan dilation,
                           bool ceil_mode, Tensor& out, Tensor& indices) {
  return writePictures(out, indices, maxPool2d(self, kernel_size, stride, padding, dilation, ceil_mode), self);
}

Tensor avgPool2d(const Tensor& self, IntSpan kernel_size, IntSpan stride, IntSpan padding, bool ceil_mode,
                 bool count_include_pad, std::optional<int64_t> divisor_override) {
  constexpr const char* kName = "avg_pool2d";
  checkCpuOrMeta(self);
  BOXCAR_CHECK(divisor_override != 0, "avg_pool2d: divisor_override must not be zero");
  const int64_t dense[] = {1};
  const shape::Pool2d pool = shape::checkPool2d(kName, self, kernel_size, stride, padding, dense, ceil_mode);
  const auto divisor = [&](const Range& row, const Range& column) {
    if (divisor_override.has_value()) return *divisor_override;
    if (count_include_pad) return row.extent * column.extent;
    return (row.end - row.begin) * (column.end - column.begin);
  };
  return mean(kName, pool, self, slidingWindows, divisor, kFloatingTypes + ElementTypes<int64_t>{});
}
Tensor& avgPool2dOut(const Tensor& self, IntSpan kernel_size, IntSpan stride, IntSpan padding, bool ceil_mode,
                     bool count_include_pad, std::optional<int64_t> divisor_override, Tensor& out) {
  return writePictures(
      out, avgPool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override), self);
}

Pair adaptiveMaxPool2d(const Tensor& self, IntSpan output_size) {
  constexpr const char* kName = "adaptive_max_pool2d";
  checkCpuOrMeta(self);
  return greatest(kName, shape::checkAdaptivePool2d(kName, self, output_size, /*may_lack_channels=*/false), self,
                  adaptiveWindows);
}
PairReference adaptiveMaxPool2dOut(const Tensor& self, IntSpan output_size, Tensor& out, Tensor& indices) {
  return writePictures(out, indices, adaptiveMaxPool2d(self, output_size), self);
}

Tensor adaptiveAvgPool2d(const Tensor& self, IntSpan output_size) {
  constexpr const char* kName = "adaptive_avg_pool2d";
  checkCpuOrMeta(self);
  const auto divisor = [](const Range& row, const Range& column) { return row.extent * column.extent; };
  return mean(kName, shape::checkAdaptivePool2d(kName, self, output_size, /*may_lack_channels=*/true), self,
              adaptiveWindows, divisor, kFloatingTypes);
}
Tensor& adaptiveAvgPool2dOut(const Tensor& self, IntSpan output_size, Tensor& out) {
  return writePictures(out, adaptiveAvgPool2d(self, output_size), self);
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  m.impl("max_pool2d_with_indices", BOXCAR_FN(maxPool2d));
  m.impl("max_pool2d_with_indices.out", BOXCAR_FN(maxPool2dOut));
  m.impl("avg_pool2d", BOXCAR_FN(avgPool2d));
  m.impl("avg_pool2d.out", BOXCAR_FN(avgPool2dOut));
  m.impl("adaptive_max_pool2d", BOXCAR_FN(adaptiveMaxPool2d));
  m.impl("adaptive_max_pool2d.out", BOXCAR_FN(adaptiveMaxPool2dOut));
  m.impl("_adaptive_avg_pool2d", BOXCAR_FN(adaptiveAvgPool2d));
  m.impl("adaptive_avg_pool2d.out", BOXCAR_FN(adaptiveAvgPool2dOut));
}

}  // namespace boxcar::cpu
