#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/functors/words.h>
#include <boxcar/backends/native/pads.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

namespace boxcar::cpu {
namespace {

using functors::PaddedAxis;

// Returns the source index for each index of a padded dimension.
std::vector<int64_t> sources(const PaddedAxis& axis) {
  std::vector<int64_t> result(static_cast<size_t>(axis.padded));
  for (int64_t i = 0; i < axis.padded; ++i) result[static_cast<size_t>(i)] = axis.source(i);
  return result;
}

template <class Word>
void padRows(const Word* in, Word* out, int64_t rows, std::span<const PaddedAxis> axes,
             std::span<const std::vector<int64_t>> from) {
  const int64_t width = axes.back().size;
  const int64_t padded_width = axes.back().padded;
  const int64_t before = axes.back().before;
  const std::span<const int64_t> columns = from.back();
  // The columns that are contiguous in both.
  const int64_t first = std::clamp<int64_t>(before, 0, padded_width);
  const int64_t last = std::clamp<int64_t>(before + width, first, padded_width);
  parallelFor(0, rows, std::max<int64_t>(1, kQuickGrain / padded_width), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t rest = row;
      int64_t source = 0;
      int64_t step = 1;
      for (size_t dim = axes.size() - 1; dim-- > 0;) {
        source += from[dim][static_cast<size_t>(rest % axes[dim].padded)] * step;
        rest /= axes[dim].padded;
        step *= axes[dim].size;
      }
      const Word* x = in + (source + rest * step) * width;
      Word* y = out + row * padded_width;
      for (int64_t i = 0; i < first; ++i) y[i] = x[columns[static_cast<size_t>(i)]];
      if (last > first) std::memcpy(y + first, x + (first - before), static_cast<size_t>(last - first) * sizeof(Word));
      for (int64_t i = last; i < padded_width; ++i) y[i] = x[columns[static_cast<size_t>(i)]];
    }
  });
}

void pad(const Tensor& out, const Tensor& self, std::span<const PaddedAxis> axes) {
  std::vector<std::vector<int64_t>> from;
  for (const PaddedAxis& axis : axes) from.push_back(sources(axis));
  const int64_t rows = out.numel() / axes.back().padded;
  functors::visitWord(self.itemsize(), [&]<class Word>(std::type_identity<Word>) {
    padRows(static_cast<const Word*>(self.data_ptr()), static_cast<Word*>(out.data_ptr()), rows, axes, from);
  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, padWithOwn, cpu::pad)

}  // namespace boxcar::native
