#include <boxcar/backends/shape/factories.h>
#include <boxcar/backends/shape/promotion.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cmath>

namespace boxcar::shape {

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
  // Channels, which are dimension 1, innermost; then the others from the last on.
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

void checkProperties(std::optional<Layout> layout, std::optional<bool> pin_memory) {
  BOXCAR_CHECK(layout.value_or(Layout::Strided) == Layout::Strided,
               "layout {} is not supported, only strided tensors are", layoutName(*layout));
  BOXCAR_CHECK(!pin_memory.value_or(false), "pin_memory=True is not supported on the CPU without a CUDA backend");
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
  // Bounds of integers are cut to integers before they are looked at.
  const bool whole = isIntegralType(type, /*includeBool=*/false);
  const auto bound = [&](const Scalar& number) {
    return whole ? static_cast<double>(number.toLong()) : number.toDouble();
  };
  BOXCAR_CHECK(std::isfinite(start.toDouble()) && std::isfinite(end.toDouble()), "unsupported range: {} -> {}", start,
               end);
  const double first = bound(start);
  const double last = bound(end);
  const double distance = bound(step);
  BOXCAR_CHECK(distance != 0, "step must be nonzero");
  BOXCAR_CHECK((distance > 0 && last >= first) || (distance < 0 && last <= first),
               "upper bound and larger bound inconsistent with step sign: from {} to {} in steps of {}", start, end,
               step);
  if (type == ScalarType::Long) {
    const int64_t sign = step.toLong() > 0 ? 1 : -1;
    int64_t span = 0;
    const bool overflow = __builtin_sub_overflow(end.toLong(), start.toLong(), &span) ||
                          __builtin_add_overflow(span, step.toLong() - sign, &span);
    BOXCAR_CHECK(!overflow, "invalid size, possible overflow? from {} to {} in steps of {}", start, end, step);
    return span / step.toLong();
  }
  const double length = std::ceil((end.toDouble() - start.toDouble()) / step.toDouble());
  BOXCAR_CHECK(length < 0x1p63, "invalid size, possible overflow? from {} to {} in steps of {}", start, end, step);
  return std::max<int64_t>(static_cast<int64_t>(length), 0);
}

}  // namespace boxcar::shape
