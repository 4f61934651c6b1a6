#include <boxcar/backends/cpu/fft_plan.h>
#include <boxcar/backends/cpu/lines.h>
#include <boxcar/backends/cpu/strided_loop.h>
#include <boxcar/backends/native/fft.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace boxcar::cpu {
namespace {

using native::FftKind;

// Elements of some lines that are beside one another: the address of the first, and the steps in bytes along a line and
// to the next one.
struct FftBlock {
  char* data;
  int64_t step;
  int64_t line_step;
  int64_t lines;
};

// Copies [count] elements, of [parts] numbers each, of each line to [to]; the lines there are [pitch] numbers apart.
template <class T, int parts>
void gather(const FftBlock& block, int64_t count, double* to, int64_t pitch) {
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t line = 0; line < block.lines; ++line) {
      const auto* from = reinterpret_cast<const T*>(block.data + i * block.step + line * block.line_step);
      for (int part = 0; part < parts; ++part) to[line * pitch + i * parts + part] = static_cast<double>(from[part]);
    }
  }
}

// The opposite, times [scale].
template <class T, int parts>
void scatter(const FftBlock& block, int64_t count, const double* from, int64_t pitch, double scale) {
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t line = 0; line < block.lines; ++line) {
      auto* to = reinterpret_cast<T*>(block.data + i * block.step + line * block.line_step);
      for (int part = 0; part < parts; ++part) {
        to[part] = static_cast<T>(from[line * pitch + i * parts + part] * scale);
      }
    }
  }
}

struct FftCopies {
  void (*gather)(const FftBlock&, int64_t, double*, int64_t);
  void (*scatter)(const FftBlock&, int64_t, const double*, int64_t, double);
};

template <class T>
FftCopies copiesOf(FftKind kind) {
  if (kind == FftKind::kRealToComplex) return {gather<T, 1>, scatter<T, 2>};
  if (kind == FftKind::kComplexToReal) return {gather<T, 2>, scatter<T, 1>};
  return {gather<T, 2>, scatter<T, 2>};
}

// How the lines of one call are transformed.
struct FftCall {
  FftKind kind;
  size_t length;  // of the real lines if there are any, else of the complex ones
  bool halves;    // real lines of even length become complex lines of half the length
  std::shared_ptr<const FftPlan> plan;
  std::optional<RealTurns> turns;

  FftCall(FftKind of_kind, int64_t of_length)
      : kind(of_kind),
        length(static_cast<size_t>(of_length)),
        halves((kind == FftKind::kRealToComplex || kind == FftKind::kComplexToReal) && length % 2 == 0),
        plan(FftPlan::find(halves ? length / 2 : length)) {
    if (halves) turns.emplace(length);
  }

  // Transforms [from], which is overwritten, to [to]; both have room for a complex line and one element more. A line of
  // real numbers has them one after the other. If [whole], the second half of a real line's transform is written, too.
  void run(LineFft& fft, Complex* from, Complex* to, bool whole) const {
    const auto all = static_cast<std::ptrdiff_t>(length);
    switch (kind) {
      case FftKind::kForward: return fft.forward(from, to);
      case FftKind::kInverse: return fft.inverse(from, to);
      case FftKind::kRealToComplex:
        if (halves) {
          fft.forward(from, to);
          turns->split(to);
          for (std::ptrdiff_t i = all / 2 + 1; whole && i < all; ++i) to[i] = std::conj(to[all - i]);
          return;
        }
        for (std::ptrdiff_t i = all; i-- > 0;) from[i] = reinterpret_cast<const double*>(from)[i];
        return fft.forward(from, to);
      case FftKind::kComplexToReal:
        if (halves) {
          turns->join(from);
          return fft.inverse(from, to);
        }
        from[0] = from[0].real();
        for (std::ptrdiff_t i = all / 2 + 1; i < all; ++i) from[i] = std::conj(from[all - i]);
        fft.inverse(from, to);
        for (std::ptrdiff_t i = 0; i < all; ++i) reinterpret_cast<double*>(to)[i] = to[i].real();
        return;
    }
  }
};

void transform(const Tensor& out, const Tensor& self, size_t dim, FftKind kind, double scale) {
  if (out.numel() == 0) return;
  const bool to_real = kind == FftKind::kComplexToReal;
  const int64_t read = self.sizes()[dim];
  const int64_t written = out.sizes()[dim];
  const int64_t length = to_real ? written : read;
  const FftCall call(kind, length);
  const bool is_double = toRealValueType(self.scalar_type()) == ScalarType::Double;
  const FftCopies copies = is_double ? copiesOf<double>(kind) : copiesOf<float>(kind);
  const int64_t read_step = lineStep(self, dim);
  const int64_t write_step = lineStep(out, dim);

  DimVector sizes = toDimVector(self.sizes());
  sizes[dim] = 1;
  StridedLoop nest(sizes);
  nest.add(out.data_ptr(), sizes, out.strides(), out.itemsize());
  nest.add(self.data_ptr(), sizes, self.strides(), self.itemsize());
  // Lines that are beside one another are copied together, as many as stay in the cache.
  const int64_t most = std::clamp<int64_t>(32768 / length, 1, 8);
  const int64_t pitch = length + 1;
  const auto body = [&](char* const* data, const int64_t* steps, int64_t n0, int64_t n1) {
    const bool beside = steps[1] < read_step || steps[0] < write_step;
    const int64_t width = beside ? std::min(most, n0) : 1;
    LineFft fft(*call.plan);
    std::vector<Complex> from(static_cast<size_t>(width * pitch));
    std::vector<Complex> to(static_cast<size_t>(width * pitch));
    StopCounter stop;
    for (int64_t j = 0; j < n1; ++j) {
      for (int64_t i = 0; i < n0; i += width) {
        const int64_t lines = std::min(width, n0 - i);
        const FftBlock source{data[1] + i * steps[1] + j * steps[kMaxOperands + 1], read_step, steps[1], lines};
        const FftBlock target{data[0] + i * steps[0] + j * steps[kMaxOperands], write_step, steps[0], lines};
        copies.gather(source, read, reinterpret_cast<double*>(from.data()), 2 * pitch);
        for (int64_t line = 0; line < lines; ++line) {
          stop.add(16 * length);
          call.run(fft, from.data() + line * pitch, to.data() + line * pitch, written > length / 2 + 1);
        }
        copies.scatter(target, written, reinterpret_cast<const double*>(to.data()), 2 * pitch, scale);
      }
    }
  };
  nest.runParallel(8 * std::max(self.numel(), out.numel()), body);
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, transformLines, cpu::transform)

}  // namespace boxcar::native
