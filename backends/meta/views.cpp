#include <boxcar/backends/meta/views.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/tensor.h>
#include <fmt/format.h>

#include <algorithm>

namespace boxcar::meta {

DimVector inferSizes(std::span<const int64_t> wanted, int64_t numel) {
  DimVector sizes = toDimVector(wanted);
  std::optional<size_t> inferred;
  int64_t known = 1;
  bool overflow = false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == -1) {
      BOXCAR_CHECK(!inferred.has_value(), "only one dimension can be inferred, but shape '[{}]' has -1 twice",
                   fmt::join(wanted, ", "));
      inferred = i;
    } else {
      BOXCAR_CHECK(wanted[i] >= 0, "invalid shape dimension {} at index {} of shape [{}]", wanted[i], i,
                   fmt::join(wanted, ", "));
      overflow |= __builtin_mul_overflow(known, wanted[i], &known);
    }
  }
  const bool fits = !overflow && (numel == known || (inferred.has_value() && known > 0 && numel % known == 0));
  BOXCAR_CHECK(fits, "shape '[{}]' is invalid for input of size {}", fmt::join(wanted, ", "), numel);
  if (inferred.has_value()) {
    BOXCAR_CHECK(known != 0,
                 "cannot reshape tensor of 0 elements into shape [{}] because the unspecified dimension size -1 can be "
                 "any value and is ambiguous",
                 fmt::join(wanted, ", "));
    sizes[*inferred] = numel / known;
  }
  return sizes;
}

std::optional<DimVector> viewStrides(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                                     std::span<const int64_t> wanted) {
  std::optional<DimVector> found(std::in_place, wanted.size(), 1);
  DimVector& result = *found;
  if (std::ranges::find(sizes, 0) != sizes.end()) {
    if (std::ranges::equal(sizes, wanted))
      std::ranges::copy(strides, result.begin());
    else
      contiguousStrides(wanted, result);
    return found;
  }
  // Process runs of dimensions that are contiguous with each other, from the last one. The wanted dimensions must fill
  // each run exactly.
  size_t next = wanted.size();
  int64_t run = 1;
  int64_t step = sizes.empty() ? 1 : strides.back();
  for (size_t i = sizes.size(); i-- > 0;) {
    run *= sizes[i];
    const bool ends = i == 0 || (sizes[i - 1] != 1 && strides[i - 1] != run * step);
    if (!ends) continue;
    int64_t filled = 1;
    while (next > 0 && (filled < run || wanted[next - 1] == 1)) {
      result[next - 1] = filled * step;
      filled *= wanted[next - 1];
      --next;
    }
    if (filled != run) return std::nullopt;
    if (i > 0) {
      run = 1;
      step = strides[i - 1];
    }
  }
  return found;
}

Slice resolveSlice(int64_t size, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  BOXCAR_CHECK(step > 0, "slice step must be positive, but it is {}", step);
  const auto bound = [size](int64_t index) { return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size); };
  const int64_t first = bound(start.value_or(0));
  const int64_t last = std::max(first, end.has_value() ? bound(*end) : size);
  const int64_t length = last - first;
  return {first, length / step + (length % step != 0)};
}

void checkMaskable(int64_t rank) {
  BOXCAR_CHECK(rank <= 64, "only tensors with up to 64 dims are supported, this has {}", rank);
}

uint64_t dimensionBit(int64_t dim, int64_t rank) {
  checkMaskable(rank);
  return uint64_t{1} << wrapDimension(dim, rank);
}

uint64_t dimensionMask(std::span<const int64_t> dims, int64_t rank) {
  checkMaskable(rank);
  if (dims.empty()) return ~uint64_t{0};
  uint64_t mask = 0;
  for (const int64_t dim : dims) {
    const uint64_t bit = dimensionBit(dim, rank);
    BOXCAR_CHECK((mask & bit) == 0, "dim {} appears multiple times in the list of dims", wrapDimension(dim, rank));
    mask |= bit;
  }
  return mask;
}

}  // namespace boxcar::meta
