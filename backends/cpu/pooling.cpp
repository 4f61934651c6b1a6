#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/vector_pooling.h>
#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/native/pooling.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace boxcar::cpu {
namespace {

using Range = functors::WindowRange;
using Axis = std::vector<Range>;

Axis rangesOf(const functors::WindowAxis& axis) {
  Axis ranges;
  ranges.reserve(static_cast<size_t>(axis.out));
  for (int64_t o = 0; o < axis.out; ++o) ranges.push_back(axis.at(o));
  return ranges;
}

// A pool over images, and the windows' ranges.
struct Ranges {
  Images in;
  Axis rows;
  Axis columns;
  int64_t row_step;
  int64_t column_step;

  explicit Ranges(const Windows& windows)
      : in(windows.in),
        rows(rangesOf(windows.rows)),
        columns(rangesOf(windows.columns)),
        row_step(windows.rows.dilation),
        column_step(windows.columns.dilation) {}

  // Calls body(image, row, to) for each row of windows: the start of the image, the range of rows, and the position
  // in the result. Threads share the rows; makeBody() creates a body for each thread, which may hold memory.
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

// The maximum of a window's column, and its row relative to the window's first row.
template <class T>
struct Amax {
  T value;
  int32_t row;

  // 1 if [other] takes its place, else 0: among equal elements the first in row-major order wins, among NaNs the last.
  // Which of two elements is greater cannot be predicted, so this has no branches.
  int yieldsTo(const Amax& other) const {
    const int is_greater = static_cast<int>(other.value > value);
    const int is_before = static_cast<int>(other.value == value) & static_cast<int>(other.row < row);
    const int is_nan = static_cast<int>(isNan(other.value));
    return is_greater | is_before | (is_nan & (static_cast<int>(!isNan(value)) | static_cast<int>(other.row >= row)));
  }
};

// Reduces the rows of a window to one, then reduces the columns of each window.
template <class T>
void takeGreatest(const Ranges& windows, const T* in, T* out, int64_t* indices) {
  using C = Compute<T>;
  const int64_t inner = windows.in.inner;
  const int64_t image_width = windows.in.width;
  const int64_t width = image_width * inner;
  const int64_t step = windows.column_step;
  windows.forEachRow([&] {
    return [&, inner, image_width, width, step, out, indices, values = std::vector<C>(static_cast<size_t>(width)),
            places = std::vector<int32_t>(static_cast<size_t>(width))](int64_t image, const Range& row,
                                                                       int64_t to) mutable {
      C* value = values.data();
      int32_t* place = places.data();
      std::fill_n(place, width, 0);
      if (row.begin < row.end) {
        std::copy_n(in + image + row.begin * width, width, value);
      } else {
        std::fill_n(value, width, lowestElement<C>());
      }
      for (int64_t y = row.begin + windows.row_step; y < row.end; y += windows.row_step) {
        const T* line = in + image + y * width;
        const auto below = static_cast<int32_t>(y - row.begin);
        for (int64_t x = 0; x < width; ++x) {
          const C element = static_cast<C>(line[x]);
          const bool takes = isGreater(element, value[x]);
          value[x] = takes ? element : value[x];
          place[x] = takes ? below : place[x];
        }
      }
      for (const Range& column : windows.columns) {
        for (int64_t c = 0; c < inner; ++c, ++to) {
          const auto at = [=](int64_t x) { return Amax<C>{value[x * inner + c], place[x * inner + c]}; };
          int64_t best_x = column.begin;
          Amax<C> best = column.begin < column.end ? at(best_x) : Amax<C>{lowestElement<C>(), 0};
          for (int64_t x = column.begin + step; x < column.end; x += step) {
            best_x += (x - best_x) * best.yieldsTo(at(x));  // compilers would make a branch of a choice
            best = at(best_x);
          }
          out[to] = static_cast<T>(best.value);
          indices[to] = (row.begin + best.row) * image_width + best_x;
        }
      }
    };
  });
}

// The same for adjacent channels, window by window: all channels of a pixel are compared at once.
void takeGreatestOfChannels(const Ranges& windows, const float* in, float* out, int64_t* indices) {
  const int64_t inner = windows.in.inner;
  const int64_t width = windows.in.width;
  windows.forEachRow([&] {
    return [&, inner, width, out, indices, taps = std::vector<WindowTap>()](int64_t image, const Range& row,
                                                                            int64_t to) mutable {
      for (const Range& column : windows.columns) {
        const int64_t first = row.begin * width + column.begin;
        taps.clear();
        for (int64_t y = row.begin; y < row.end; y += windows.row_step) {
          for (int64_t x = column.begin; x < column.end; x += windows.column_step) {
            const int64_t place = y * width + x - first;
            taps.push_back({place * inner, static_cast<int32_t>(place)});
          }
        }
        if (taps.empty()) {
          std::fill_n(out + to, inner, lowestElement<float>());
          std::fill_n(indices + to, inner, first);
        } else {
          greatestOfTaps(in + image + first * inner, taps.data(), taps.size(), static_cast<size_t>(inner), first,
                         out + to, indices + to);
        }
        to += inner;
      }
    };
  });
}

// Whether there are enough channels for vectors, and windows are so small that overlaps do not cost more than that
// gains.
bool goesByChannels(const Windows& windows) {
  constexpr int64_t kFewestChannels = 8;
  constexpr int64_t kLongest = 32;
  const auto isShort = [](const functors::WindowAxis& axis) { return axis.adaptive || axis.kernel <= kLongest; };
  return windows.in.inner >= kFewestChannels && isShort(windows.rows) && isShort(windows.columns) &&
         windows.in.height * windows.in.width <= std::numeric_limits<int32_t>::max();
}

// As divideSumsOfRows, for any type.
template <class T>
void averageRows(const T* in, int64_t step, int64_t rows, size_t n, Compute<T> divisor, Compute<T>* out) {
  using C = Compute<T>;
  if constexpr (std::is_same_v<T, float>) return divideSumsOfRows(in, step, rows, n, divisor, out);
  std::fill_n(out, n, C(0));
  for (int64_t k = 0; k < rows; ++k) {
    for (size_t i = 0; i < n; ++i) out[i] += static_cast<C>(in[k * step + static_cast<int64_t>(i)]);
  }
  for (size_t i = 0; divisor != C(1) && i < n; ++i) out[i] /= divisor;
}

// Sums the rows of windows, then the columns of each window.
template <class T>
void takeMean(const Ranges& windows, const T* in, T* out, const WindowDivisor& divisor) {
  using C = Compute<T>;
  const int64_t inner = windows.in.inner;
  const int64_t width = windows.in.width * inner;
  windows.forEachRow([&] {
    return [&, inner, width, in, out, sums = std::vector<C>(static_cast<size_t>(width)),
            means = std::vector<C>(static_cast<size_t>(inner))](int64_t image, const Range& row, int64_t to) mutable {
      const C* sum = sums.data();
      averageRows(in + image + row.begin * width, width, row.end - row.begin, sums.size(), C(1), sums.data());
      for (const Range& column : windows.columns) {
        const C count = static_cast<C>(divisor.of(row, column));
        if (inner == 1) {
          C total = C(0);
          for (int64_t x = column.begin; x < column.end; ++x) total += sum[x];
          out[to++] = static_cast<T>(total / count);
          continue;
        }
        const C* const first = sum + column.begin * inner;
        if constexpr (std::is_same_v<T, C>) {
          averageRows(first, inner, column.end - column.begin, means.size(), count, out + to);
          to += inner;
        } else {
          averageRows(first, inner, column.end - column.begin, means.size(), count, means.data());
          for (const C mean : means) out[to++] = static_cast<T>(mean);
        }
      }
    };
  });
}

void greatest(const Windows& windows, const Tensor& out, const Tensor& indices, const Tensor& self) {
  visitScalarType(kRealTypes, self.scalar_type(), "max_pool2d", [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, float>) {
      if (goesByChannels(windows)) {
        return takeGreatestOfChannels(Ranges(windows), self.const_data_ptr<T>(), out.mutable_data_ptr<T>(),
                                      indices.mutable_data_ptr<int64_t>());
      }
    }
    takeGreatest(Ranges(windows), self.const_data_ptr<T>(), out.mutable_data_ptr<T>(),
                 indices.mutable_data_ptr<int64_t>());
  });
}

void mean(const Windows& windows, const WindowDivisor& divisor, const Tensor& out, const Tensor& self) {
  constexpr auto kTypes = kFloatingTypes + ElementTypes<int64_t>{};
  visitScalarType(kTypes, self.scalar_type(), "avg_pool2d", [&]<class T>(std::type_identity<T>) {
    takeMean(Ranges(windows), self.const_data_ptr<T>(), out.mutable_data_ptr<T>(), divisor);
  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, takeGreatest, cpu::greatest)
BOXCAR_REGISTER_STUB(CPU, takeMean, cpu::mean)

}  // namespace boxcar::native
