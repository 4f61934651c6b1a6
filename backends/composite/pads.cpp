#include <boxcar/backends/meta/factories.h>
#include <boxcar/backends/meta/pads.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

// Padding with a value or circularly, dispatch between all padding modes, and pixel shuffling.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;

// Copies the part that [self] and [result], which has the padded size, share.
void copyInterior(const Tensor& self, const Tensor& result, IntSpan pad) {
  Tensor source = self;
  Tensor target = result;
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t dim = self.dim() - 1 - static_cast<int64_t>(i);
    const auto cut = [&](const Tensor& tensor, int64_t before, int64_t after) {
      return boxcar::slice(tensor, dim, std::max<int64_t>(before, 0), tensor.size(dim) - std::max<int64_t>(after, 0));
    };
    source = cut(source, -pad[2 * i], -pad[2 * i + 1]);
    target = cut(target, pad[2 * i], pad[2 * i + 1]);
  }
  boxcar::copy_(target, source);
}

Tensor constantPad(const Tensor& self, IntSpan pad, const Scalar& value) {
  const DimVector sizes = meta::paddedSizes(self, pad);
  if (std::ranges::all_of(pad, [](int64_t elements) { return elements == 0; })) return boxcar::clone(self);
  Tensor result =
      boxcar::empty(sizes, self.scalar_type(), self.layout(), self.device(), std::nullopt, meta::formatOf(self));
  boxcar::fill_(result, value);
  copyInterior(self, result, pad);
  return result;
}

// Each end is filled from the opposite end; all dimensions except the first two can be padded this way.
Tensor circularPad(const Tensor& self, IntSpan pad) {
  BOXCAR_CHECK(pad.size() + 4 == 2 * self.sizes().size(), "Invalid padding size, expected {} but got {}",
               2 * self.dim() - 4, pad.size());
  const DimVector sizes = meta::paddedSizes(self, pad);
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const size_t dim = sizes.size() - 1 - i;
    BOXCAR_CHECK(pad[2 * i] <= self.sizes()[dim] && pad[2 * i + 1] <= self.sizes()[dim],
                 "Padding value causes wrapping around more than once: {} and {} in dimension {} of size {}.",
                 pad[2 * i], pad[2 * i + 1], dim, self.sizes()[dim]);
    BOXCAR_CHECK(sizes[dim] > 0, "Negative padding value is resulting in an empty dimension: {} and {} in dimension {}",
                 pad[2 * i], pad[2 * i + 1], dim);
  }
  const Tensor result =
      boxcar::empty(sizes, self.scalar_type(), self.layout(), self.device(), std::nullopt, meta::formatOf(self));
  copyInterior(self, result, pad);
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t dim = self.dim() - 1 - static_cast<int64_t>(i);
    const int64_t before = std::max<int64_t>(pad[2 * i], 0);
    const int64_t after = std::max<int64_t>(pad[2 * i + 1], 0);
    const int64_t end = result.size(dim) - after;
    if (before > 0) {
      Tensor front = boxcar::slice(result, dim, 0, before);
      boxcar::copy_(front, boxcar::slice(result, dim, end - before, end));
    }
    if (after > 0) {
      Tensor back = boxcar::slice(result, dim, end);
      boxcar::copy_(back, boxcar::slice(result, dim, before, before + after));
    }
  }
  return result;
}

Tensor pad(const Tensor& self, IntSpan pad, std::string_view mode, std::optional<double> value) {
  if (mode == "constant") return boxcar::constant_pad_nd(self, pad, value.value_or(0));
  BOXCAR_CHECK(mode == "reflect" || mode == "replicate" || mode == "circular",
               "Unrecognised padding mode {}: it is one of constant, reflect, replicate and circular", mode);
  BOXCAR_CHECK(value.value_or(0) == 0, "Padding mode \"{}\" doesn't take in value argument, but it is {}", mode,
               *value);
  const size_t padded = pad.size() / 2;
  const size_t rank = self.sizes().size();
  BOXCAR_CHECK(pad.size() % 2 == 0 && padded >= 1 && padded <= 3 && (rank == padded + 1 || rank == padded + 2),
               "padding mode \"{}\" takes 2D to 5D tensors and pads their last 1, 2 or 3 dimensions, with one or two "
               "before them, but pad is [{}] and the input has {} dimensions",
               mode, fmt::join(pad, ", "), rank);
  if (mode == "circular") return circularPad(self, pad);
  const bool reflects = mode == "reflect";
  if (padded == 1) return reflects ? boxcar::reflection_pad1d(self, pad) : boxcar::replication_pad1d(self, pad);
  if (padded == 2) return reflects ? boxcar::reflection_pad2d(self, pad) : boxcar::replication_pad2d(self, pad);
  return reflects ? boxcar::reflection_pad3d(self, pad) : boxcar::replication_pad3d(self, pad);
}

// Treats [self] as batches of three dimensions and moves pixels between them.
Tensor pixelShuffle(const Tensor& self, int64_t factor) {
  BOXCAR_CHECK(self.dim() >= 3,
               "pixel_shuffle expects input to have at least 3 dimensions, but got input with {} "
               "dimension(s)",
               self.dim());
  BOXCAR_CHECK(factor > 0, "pixel_shuffle expects a positive upscale_factor, but got {}", factor);
  const int64_t channels = self.size(-3);
  const bool divides = factor <= channels && channels % factor == 0 && channels / factor % factor == 0;
  BOXCAR_CHECK(divides || channels == 0,
               "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
               "but input.size(-3)={} is not divisible by {} squared",
               channels, factor);
  const int64_t height = self.size(-2);
  const int64_t width = self.size(-1);
  int64_t higher = 0;
  int64_t wider = 0;
  const bool overflow =
      __builtin_mul_overflow(height, factor, &higher) || __builtin_mul_overflow(width, factor, &wider);
  BOXCAR_CHECK(!overflow, "pixel_shuffle: upscale_factor {} is too large", factor);
  const auto batch = self.sizes().first(self.sizes().size() - 3);
  const int64_t left = channels / factor / factor;
  DimVector sizes = toDimVector(batch);
  sizes.insert(sizes.end(), {left, higher, wider});
  const Tensor parts = boxcar::reshape(self, {numelOf(batch), left, factor, factor, height, width});
  const Tensor moved = boxcar::clone(boxcar::permute(parts, {0, 1, 4, 2, 5, 3}), MemoryFormat::Contiguous);
  return boxcar::_unsafe_view(moved, sizes);
}

Tensor pixelUnshuffle(const Tensor& self, int64_t factor) {
  BOXCAR_CHECK(self.dim() >= 3,
               "pixel_unshuffle expects input to have at least 3 dimensions, but got input with {} "
               "dimension(s)",
               self.dim());
  BOXCAR_CHECK(factor > 0, "pixel_unshuffle expects a positive downscale_factor, but got {}", factor);
  const int64_t channels = self.size(-3);
  const int64_t height = self.size(-2);
  const int64_t width = self.size(-1);
  BOXCAR_CHECK(height % factor == 0,
               "pixel_unshuffle expects height to be divisible by downscale_factor, but input.size(-2)={} is not "
               "divisible by {}",
               height, factor);
  BOXCAR_CHECK(width % factor == 0,
               "pixel_unshuffle expects width to be divisible by downscale_factor, but input.size(-1)={} is not "
               "divisible by {}",
               width, factor);
  const auto batch = self.sizes().first(self.sizes().size() - 3);
  int64_t more = 0;
  const bool overflow = __builtin_mul_overflow(channels, factor, &more) || __builtin_mul_overflow(more, factor, &more);
  BOXCAR_CHECK(!overflow, "pixel_unshuffle: downscale_factor {} is too large", factor);
  DimVector sizes = toDimVector(batch);
  sizes.insert(sizes.end(), {more, height / factor, width / factor});
  const Tensor parts =
      boxcar::reshape(self, {numelOf(batch), channels, height / factor, factor, width / factor, factor});
  const Tensor moved = boxcar::clone(boxcar::permute(parts, {0, 1, 3, 5, 2, 4}), MemoryFormat::Contiguous);
  return boxcar::_unsafe_view(moved, sizes);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("constant_pad_nd", BOXCAR_FN(constantPad));
  m.impl("pixel_shuffle", BOXCAR_FN(pixelShuffle));
  m.impl("pixel_unshuffle", BOXCAR_FN(pixelUnshuffle));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("pad", BOXCAR_FN(pad));
  m.impl("_pad_circular", BOXCAR_FN(circularPad));
}

}  // namespace boxcar::composite
