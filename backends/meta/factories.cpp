#include <boxcar/backends/meta/factories.h>
#include <boxcar/backends/meta/promotion.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace boxcar::meta {

DimVector stridesIn(MemoryFormat format, std::span<const int64_t> sizes) {
  DimVector strides(sizes.size(), boost::container::default_init);
  if (format == MemoryFormat::Contiguous) {
    contiguousStrides(sizes, strides);
    return strides;
  }
  BOXCAR_CHECK(format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d,
               "unsupported memory format {}: it needs a tensor to follow", memoryFormatName(format));
  const size_t rank = format == MemoryFormat::ChannelsLast ? 4 : 5;
  BOXCAR_CHECK(sizes.size() == rank, "required rank {} tensor to use {} format, but the tensor has rank {}", rank,
               memoryFormatName(format), sizes.size());
  // Channels (dimension 1) innermost, then the others from the last one on.
  int64_t stride = 1;
  const auto next = [&](size_t dim) {
    strides[dim] = stride;
    stride *= std::max<int64_t>(sizes[dim], 1);
  };
  next(1);
  for (size_t i = rank - 1; i > 1; --i) next(i);
  next(0);
  return strides;
}

MemoryFormat formatOf(const Tensor& tensor) {
  const size_t rank = tensor.sizes().size();
  if ((rank != 4 && rank != 5) || tensor.strides()[1] == 0) return MemoryFormat::Contiguous;
  const auto channels_last = [&] {
    // From the innermost dimension outwards, each stride must step over all dimensions inside. One channel of one pixel
    // is ambiguous and counts as contiguous.
    constexpr size_t kOrder4[] = {1, 3, 2, 0};
    constexpr size_t kOrder5[] = {1, 4, 3, 2, 0};
    int64_t least = 0;
    for (size_t i = 0; i < rank; ++i) {
      const size_t dim = rank == 4 ? kOrder4[i] : kOrder5[i];
      const int64_t size = tensor.sizes()[dim];
      const int64_t stride = tensor.strides()[dim];
      if (size == 0 || stride < least || (dim == 0 && least == tensor.strides()[1])) return false;
      least = stride * size;
    }
    return true;
  };
  if (!channels_last()) return MemoryFormat::Contiguous;
  return rank == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
}

void checkSizes(std::span<const int64_t> size) {
  for (const int64_t extent : size) {
    BOXCAR_CHECK(extent >= 0, "Trying to create tensor with negative dimension {}: [{}]", extent,
                 fmt::join(size, ", "));
  }
}

void checkProperties(std::optional<Layout> layout, std::optional<bool> pin_memory) {
  BOXCAR_CHECK(layout.value_or(Layout::Strided) == Layout::Strided,
               "layout {} is not supported, only strided tensors are", layoutName(*layout));
  BOXCAR_CHECK(!pin_memory.value_or(false),
               "pin_memory=True is not supported here; call pin_memory() on a tensor of the CPU");
}

ScalarType typeOfFill(const Scalar& value) {
  if (value.isFloatingPoint()) return kDefaultDtype;
  return value.isComplex() ? toComplexType(kDefaultDtype) : value.type();
}

ScalarType typeOfArange(const Scalar& start, const Scalar& end, const Scalar& step) {
  const bool whole = start.isIntegral(true) && end.isIntegral(true) && step.isIntegral(true);
  return whole ? ScalarType::Long : kDefaultDtype;
}

int64_t arangeLength(const Scalar& start, const Scalar& end, const Scalar& step, ScalarType type) {
  BOXCAR_CHECK(std::isfinite(start.toDouble()) && std::isfinite(end.toDouble()), "unsupported range: {} -> {}", start,
               end);
  const double first = start.toDouble();
  const double last = end.toDouble();
  const double distance = step.toDouble();
  BOXCAR_CHECK(distance != 0, "step must be nonzero");
  BOXCAR_CHECK((distance > 0 && last >= first) || (distance < 0 && last <= first),
               "upper bound and larger bound inconsistent with step sign: from {} to {} in steps of {}", start, end,
               step);
  if (type == ScalarType::Long && start.isIntegral(true) && end.isIntegral(true) && step.isIntegral(true)) {
    const int64_t sign = step.toLong() > 0 ? 1 : -1;
    int64_t span = 0;
    const bool overflow = __builtin_sub_overflow(end.toLong(), start.toLong(), &span) ||
                          __builtin_add_overflow(span, step.toLong() - sign, &span) ||
                          (span == std::numeric_limits<int64_t>::min() && step.toLong() == -1);
    BOXCAR_CHECK(!overflow, "invalid size, possible overflow? from {} to {} in steps of {}", start, end, step);
    return span / step.toLong();
  }
  const double length = std::ceil((end.toDouble() - start.toDouble()) / step.toDouble());
  BOXCAR_CHECK(length < 0x1p63, "invalid size, possible overflow? from {} to {} in steps of {}", start, end, step);
  return std::max<int64_t>(static_cast<int64_t>(length), 0);
}

void checkSteps(int64_t steps) {
  BOXCAR_CHECK(steps >= 0, "number of steps must be non-negative, but it is {}", steps);
}

ScalarType typeOfLinspace(const Scalar& start, const Scalar& end) {
  return start.isComplex() || end.isComplex() ? toComplexType(kDefaultDtype) : kDefaultDtype;
}

int64_t lowerTriangleCount(int64_t rows, int64_t columns, int64_t offset) {
  BOXCAR_CHECK(rows >= 0, "row must be non-negative, got {}", rows);
  BOXCAR_CHECK(columns >= 0, "col must be non-negative, got {}", columns);
  // Rows with elements on or below the diagonal: the first [growing] rows have one more element each, the rest have all
  // [columns].
  const int64_t shift = std::clamp(offset, -rows, columns);
  const int64_t used = shift < 0 ? rows + shift : rows;
  const int64_t first = std::max<int64_t>(shift, 0);
  const int64_t growing = std::min(used, columns - first);
  using Wide = __int128;
  const Wide count = Wide(growing) * first + Wide(growing) * (Wide(growing) + 1) / 2 + Wide(used - growing) * columns;
  BOXCAR_CHECK(count <= std::numeric_limits<int64_t>::max() / 2,
               "a matrix of {} by {} has more elements on that side of its diagonal {} than 63 bits can count", rows,
               columns, offset);
  return static_cast<int64_t>(count);
}

}  // namespace boxcar::meta
