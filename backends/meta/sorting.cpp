#include <boxcar/backends/meta/sorting.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace boxcar::meta {
void checkOrdered(std::string_view name, const Tensor& self) {
  BOXCAR_CHECK(!isComplexType(self.scalar_type()), "{}(): elements of {} have no order", name,
               dtypeName(self.scalar_type()));
}

DimVector topkSizes(const Tensor& self, int64_t k, int64_t& dim) {
  checkOrdered("topk", self);
  dim = wrapDimension(dim, self.dim());
  const int64_t length = self.dim() == 0 ? 1 : self.sizes()[static_cast<size_t>(dim)];
  BOXCAR_CHECK(k >= 0 && k <= length, "topk(): selected index k out of range: k is {}, dimension {} has size {}", k,
               dim, length);
  DimVector sizes = toDimVector(self.sizes());
  if (self.dim() > 0) sizes[static_cast<size_t>(dim)] = k;
  return sizes;
}

void checkLineNotEmpty(std::string_view name, const Tensor& self, int64_t dim) {
  BOXCAR_CHECK(self.dim() == 0 || self.sizes()[static_cast<size_t>(dim)] != 0,
               "{}(): Expected reduction dim {} to have non-zero size.", name, dim);
}

bool checkSearch(std::string_view name, const Tensor& boundaries, const Tensor& values, bool right,
                 std::optional<std::string_view> side, const std::optional<Tensor>& sorter, bool out_int32) {
  if (side.has_value()) {
    BOXCAR_CHECK(*side == "left" || *side == "right", "{}(): side can only be 'left' or 'right' but got '{}'", name,
                 *side);
    BOXCAR_CHECK(!right || *side == "right",
                 "{}(): side and right can't be set to opposites, got side of {} while right was True", name, *side);
  }
  checkOrdered(name, boundaries);
  checkOrdered(name, values);
  BOXCAR_CHECK(boundaries.dim() > 0, "{}(): boundaries tensor should have positive dimension, but got 0 dimension",
               name);
  BOXCAR_CHECK(values.dim() > 0 || boundaries.dim() == 1,
               "{}(): input value can be a scalar only when boundaries tensor dimension is 1, but it has sizes [{}]",
               name, fmt::join(boundaries.sizes(), ", "));
  if (sorter.has_value()) {
    BOXCAR_CHECK(std::ranges::equal(sorter->sizes(), boundaries.sizes()),
                 "{}(): boundaries and sorter must have the same sizes, but got boundaries of [{}] and sorter of [{}]",
                 name, fmt::join(boundaries.sizes(), ", "), fmt::join(sorter->sizes(), ", "));
    BOXCAR_CHECK(sorter->scalar_type() == ScalarType::Long, "{}(): sorter must be a tensor of int64 but got dtype {}",
                 name, dtypeName(sorter->scalar_type()));
  }
  if (boundaries.dim() != 1) {
    const bool fits =
        boundaries.dim() == values.dim() && std::ranges::equal(boundaries.sizes().first(boundaries.sizes().size() - 1),
                                                               values.sizes().first(values.sizes().size() - 1));
    BOXCAR_CHECK(
        fits,
        "{}(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input "
        "value tensor must match, but we got boundaries tensor [{}] and input value tensor [{}]",
        name, fmt::join(boundaries.sizes(), ", "), fmt::join(values.sizes(), ", "));
  }
  BOXCAR_CHECK(!out_int32 || boundaries.sizes().back() < std::numeric_limits<int32_t>::max(),
               "{}(): the size of boundaries' last dimension should be less than {}, but we got {}", name,
               std::numeric_limits<int32_t>::max(), boundaries.sizes().back());
  return right || side == "right";
}

}  // namespace boxcar::meta
