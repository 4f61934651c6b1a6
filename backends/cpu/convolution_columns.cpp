#include <boxcar/backends/cpu/convolution.h>
#include <boxcar/backends/cpu/gemm.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/native/convolution.h>

#include <algorithm>
#include <vector>

// A convolution is a matrix product: each kernel is a row, and each window is a column. Columns are materialised for
// some windows at a time.

namespace boxcar::cpu {
namespace {

constexpr auto kConvolutionTypes = kIntegralTypes + ElementTypes<float, double>{} + kComplexTypes;
// Bytes of columns: about the size of the L2 cache.
constexpr int64_t kColumnBytes = int64_t{256} * 1024;
constexpr int64_t kFewestColumns = 64;

// A call for elements of type T with three spatial dimensions; missing ones come first and have size 1.
template <class T>
struct Columns {
  ConvolvedAxes axes;
  int64_t groups;
  int64_t in_channels;   // per group
  int64_t out_channels;  // per group
  int64_t in_pixels = 1;
  int64_t out_pixels = 1;
  int64_t taps = 1;     // elements per kernel
  bool reads_in_place;  // kernels have one element, so the input itself serves as the columns
  const T* input;
  const T* weight;
  const T* bias;
  T* out;

  explicit Columns(const ConvolutionCall& call)
      : axes(convolvedAxes(call.arguments, call.input.sizes(), call.weight.sizes())),
        groups(call.arguments.groups),
        in_channels(call.input.sizes()[1] / groups),
        out_channels(call.out.sizes()[1] / groups),
        input(static_cast<const T*>(call.input.data_ptr())),
        weight(static_cast<const T*>(call.weight.data_ptr())),
        bias(call.bias.defined() ? static_cast<const T*>(call.bias.data_ptr()) : nullptr),
        out(static_cast<T*>(call.out.data_ptr())) {
    const meta::Convolution& c = call.arguments;
    const auto all = [](const DimVector& values, int64_t wanted) {
      return std::ranges::all_of(values, [wanted](int64_t value) { return value == wanted; });
    };
    for (const ConvolvedAxis& axis : axes) {
      in_pixels *= axis.in;
      out_pixels *= axis.out;
      taps *= axis.kernel;
    }
    reads_in_place = taps == 1 && all(c.stride, 1) && all(c.padding, 0) && in_pixels == out_pixels;
  }

  int64_t depth() const { return in_channels * taps; }

  // Writes [n] columns from the input line at [line], for output positions from [x] on.
  static void gatherLine(const T* line, const ConvolvedAxis& axis, int64_t k, int64_t x, int64_t n, T* to) {
    if (axis.stride != 1) {
      for (int64_t i = 0; i < n; ++i) {
        const int64_t place = axis.index(k, x + i);
        to[i] = place < 0 ? T(0) : line[place];
      }
      return;
    }
    // Adjacent outputs read adjacent inputs, with padding on both sides.
    const int64_t shift = axis.transposed ? axis.padding - k * axis.dilation : k * axis.dilation - axis.padding;
    const int64_t first = std::clamp<int64_t>(-shift, x, x + n);
    const int64_t last = std::clamp<int64_t>(axis.in - shift, first, x + n);
    to = std::fill_n(to, first - x, T(0));
    to = std::copy_n(line + (first + shift), last - first, to);
    std::fill_n(to, x + n - last, T(0));
  }

  // Writes row (channel, d, h, w) of the columns for windows [begin, end).
  void gatherRow(const T* plane, int64_t d, int64_t h, int64_t w, int64_t begin, int64_t end, T* to) const {
    const int64_t width = axes[2].out;
    for (int64_t p = begin; p < end;) {
      const int64_t x = p % width;
      const int64_t y = axes[1].index(h, p / width % axes[1].out);
      const int64_t z = axes[0].index(d, p / width / axes[1].out);
      const int64_t n = std::min(width - x, end - p);
      if (y < 0 || z < 0) {
        std::fill_n(to, n, T(0));
      } else {
        gatherLine(plane + (z * axes[1].in + y) * axes[2].in, axes[2], w, x, n, to);
      }
      p += n;
      to += n;
    }
  }

  void gather(const T* image, int64_t begin, int64_t end, T* columns) const {
    for (int64_t c = 0; c < in_channels; ++c, image += in_pixels) {
      for (int64_t d = 0; d < axes[0].kernel; ++d) {
        for (int64_t h = 0; h < axes[1].kernel; ++h) {
          for (int64_t w = 0; w < axes[2].kernel; ++w, columns += end - begin) {
            gatherRow(image, d, h, w, begin, end, columns);
          }
        }
      }
    }
  }

  // to += kernels @ columns, for rows of [out_pixels] elements of which [n] are written.
  void multiply(const T* kernels, const T* columns, int64_t column_step, int64_t n, T* to) const {
    if constexpr (std::is_floating_point_v<T>) {
      gemm<T>(out_channels, n, depth(), 1, {kernels, depth(), 1}, {columns, column_step, 1}, 1, {to, out_pixels, 1});
    } else {
      for (int64_t o = 0; o < out_channels; ++o, to += out_pixels, kernels += depth()) {
        for (int64_t k = 0; k < depth(); ++k) {
          const T* row = columns + k * column_step;
          for (int64_t i = 0; i < n; ++i) to[i] = addElements(to[i], multiplyElements(kernels[k], row[i]));
        }
      }
    }
  }

  // Computes windows [begin, end) of one group of one sample.
  void compute(int64_t sample, int64_t group, int64_t begin, int64_t end, T* columns) const {
    const T* image = input + (sample * groups + group) * in_channels * in_pixels;
    const T* kernels = weight + group * out_channels * depth();
    T* to = out + (sample * groups + group) * out_channels * out_pixels + begin;
    for (int64_t o = 0; o < out_channels; ++o) {
      std::fill_n(to + o * out_pixels, end - begin, bias == nullptr ? T(0) : bias[group * out_channels + o]);
    }
    if (reads_in_place) return multiply(kernels, image + begin, in_pixels, end - begin, to);
    gather(image, begin, end, columns);
    multiply(kernels, columns, end - begin, end - begin, to);
  }

  void run(int64_t samples) const {
    const int64_t column_bytes = std::max<int64_t>(depth(), 1) * static_cast<int64_t>(sizeof(T));
    const int64_t block = std::min(std::max(kColumnBytes / column_bytes, kFewestColumns), out_pixels);
    const int64_t blocks = (out_pixels + block - 1) / block;
    const int64_t work = block * depth() * std::max<int64_t>(out_channels / 8, 1);
    parallelFor(0, samples * groups * blocks, kParallelGrain / std::max<int64_t>(work, 1) + 1,
                [&](int64_t first, int64_t last) {
                  std::vector<T> columns(static_cast<size_t>(reads_in_place ? 0 : depth() * block));
                  for (int64_t i = first; i < last; ++i) {
                    const int64_t begin = i % blocks * block;
                    compute(i / blocks / groups, i / blocks % groups, begin, std::min(begin + block, out_pixels),
                            columns.data());
                  }
                });
  }
};

// Converts kernels of a transposed convolution, [C, O/groups, taps], to those of a regular one: [O, C/groups, taps].
template <class T>
std::vector<T> withOutputsFirst(const ConvolutionCall& call, const Columns<T>& columns) {
  std::vector<T> kernels(static_cast<size_t>(call.weight.numel()));
  T* to = kernels.data();
  for (int64_t g = 0; g < columns.groups; ++g) {
    for (int64_t o = 0; o < columns.out_channels; ++o) {
      for (int64_t c = 0; c < columns.in_channels; ++c) {
        to = std::copy_n(columns.weight + ((g * columns.in_channels + c) * columns.out_channels + o) * columns.taps,
                         columns.taps, to);
      }
    }
  }
  return kernels;
}

}  // namespace

void convolveByColumns(const ConvolutionCall& call) {
  visitScalarType(kConvolutionTypes, call.out.scalar_type(), "convolution", [&]<class T>(std::type_identity<T>) {
    Columns<T> columns(call);
    std::vector<T> kernels;
    if (call.arguments.transposed) {
      kernels = withOutputsFirst(call, columns);
      columns.weight = kernels.data();
    }
    columns.run(call.out.sizes()[0]);
  });
}

}  // namespace boxcar::cpu
