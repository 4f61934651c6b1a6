#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/shape/output.h>
#include <boxcar/backends/shape/pads.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

// Padding with the tensor's own elements: mirrored at its ends, or the ends themselves repeated.

namespace boxcar::cpu {
namespace {

using IntSpan = std::span<const int64_t>;

// For each index of a padded dimension the one that its element comes from.
std::vector<int64_t> sources(int64_t padded, int64_t size, int64_t before, bool reflects) {
  std::vector<int64_t> result(static_cast<size_t>(padded));
  for (int64_t i = 0; i < padded; ++i) {
    int64_t from = i - before;
    if (reflects && from < 0) from = -from;
    if (reflects && from >= size) from = 2 * (size - 1) - from;
    result[static_cast<size_t>(i)] = std::clamp<int64_t>(from, 0, size - 1);
  }
  return result;
}

// [size] and [padded] have a number of dimensions that are padded, the last of those of contiguous tensors.
template <class Word>
void padRows(const Word* in, Word* out, int64_t rows, IntSpan size, IntSpan padded,
             std::span<const std::vector<int64_t>> from, int64_t before) {
  const int64_t width = size.back();
  const int64_t padded_width = padded.back();
  const std::span<const int64_t> columns = from.back();
  // The columns that follow each other in both.
  const int64_t first = std::clamp<int64_t>(before, 0, padded_width);
  const int64_t last = std::clamp<int64_t>(before + width, first, padded_width);
  parallelFor(0, rows, std::max<int64_t>(1, kParallelGrain / padded_width), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t rest = row;
      int64_t source = 0;
      int64_t step = 1;
      for (size_t dim = size.size() - 1; dim-- > 0;) {
        source += from[dim][static_cast<size_t>(rest % padded[dim])] * step;
        rest /= padded[dim];
        step *= size[dim];
      }
      const Word* x = in + (source + rest * step) * width;
      Word* y = out + row * padded_width;
      for (int64_t i = 0; i < first; ++i) y[i] = x[columns[static_cast<size_t>(i)]];
      if (last > first) std::memcpy(y + first, x + (first - before), static_cast<size_t>(last - first) * sizeof(Word));
      for (int64_t i = last; i < padded_width; ++i) y[i] = x[columns[static_cast<size_t>(i)]];
    }
  });
}

struct Words {
  uint64_t low, high;
};

Tensor padded(std::string_view name, const Tensor& self, IntSpan pad, size_t dims, bool reflects) {
  checkCpuOrMeta(self);
  const DimVector sizes = shape::mirroredSizes(name, self, pad, dims, reflects);
  const Tensor result = Tensor::allocate(sizes, self.scalar_type(), self.device());
  if (result.is_meta() || result.numel() == 0) return result;
  const Tensor source = toContiguous(self);
  const IntSpan size = self.sizes().last(dims);
  const IntSpan padded_size = IntSpan(sizes).last(dims);
  std::vector<std::vector<int64_t>> from;
  for (size_t i = 0; i < dims; ++i) from.push_back(sources(padded_size[i], size[i], pad[2 * (dims - 1 - i)], reflects));
  const int64_t rows = result.numel() / sizes.back();
  const auto run = [&]<class Word>(std::type_identity<Word>) {
    padRows(static_cast<const Word*>(source.data_ptr()), static_cast<Word*>(result.data_ptr()), rows, size, padded_size,
            from, pad[0]);
  };
  switch (self.itemsize()) {
    case 1: run(std::type_identity<uint8_t>{}); break;
    case 2: run(std::type_identity<uint16_t>{}); break;
    case 4: run(std::type_identity<uint32_t>{}); break;
    case 8: run(std::type_identity<uint64_t>{}); break;
    default: run(std::type_identity<Words>{});
  }
  return result;
}

template <size_t dims>
Tensor reflect(const Tensor& self, IntSpan padding) {
  constexpr std::string_view kNames[] = {"reflection_pad1d", "reflection_pad2d", "reflection_pad3d"};
  return padded(kNames[dims - 1], self, padding, dims, /*reflects=*/true);
}
template <size_t dims>
Tensor replicate(const Tensor& self, IntSpan padding) {
  constexpr std::string_view kNames[] = {"replication_pad1d", "replication_pad2d", "replication_pad3d"};
  return padded(kNames[dims - 1], self, padding, dims, /*reflects=*/false);
}

template <Tensor (*pad)(const Tensor&, IntSpan)>
Tensor& writeTo(const Tensor& self, IntSpan padding, Tensor& out) {
  shape::checkOutputType(out, self.scalar_type());
  return writeResult(out, pad(self, padding));
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  m.impl("reflection_pad1d", BOXCAR_FN(reflect<1>));
  m.impl("reflection_pad1d.out", BOXCAR_FN(writeTo<reflect<1>>));
  m.impl("reflection_pad2d", BOXCAR_FN(reflect<2>));
  m.impl("reflection_pad2d.out", BOXCAR_FN(writeTo<reflect<2>>));
  m.impl("reflection_pad3d", BOXCAR_FN(reflect<3>));
  m.impl("reflection_pad3d.out", BOXCAR_FN(writeTo<reflect<3>>));
  m.impl("replication_pad1d", BOXCAR_FN(replicate<1>));
  m.impl("replication_pad1d.out", BOXCAR_FN(writeTo<replicate<1>>));
  m.impl("replication_pad2d", BOXCAR_FN(replicate<2>));
  m.impl("replication_pad2d.out", BOXCAR_FN(writeTo<replicate<2>>));
  m.impl("replication_pad3d", BOXCAR_FN(replicate<3>));
  m.impl("replication_pad3d.out", BOXCAR_FN(writeTo<replicate<3>>));
}

}  // namespace boxcar::cpu
