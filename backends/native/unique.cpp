#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/meta/sorting.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/unique.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace boxcar::native {

constinit DeviceStub<UniqueElements> uniqueElements("unique");
constinit DeviceStub<UniqueSlices> uniqueSlices("unique_dim");

namespace {

using Three = std::tuple<Tensor, Tensor, Tensor>;

void checkHasOrder(std::string_view name, const Tensor& self) {
  checkDense(self);
  BOXCAR_CHECK(!self.is_meta(), "{}(): the sizes of the result depend on elements, which tensors on Meta have not",
               name);
  meta::checkOrdered(name, self);
}

Tensor shapedLike(const Tensor& flat, const Tensor& like) {
  if (flat.numel() != like.numel()) return flat;
  DimVector strides(like.sizes().size(), boost::container::default_init);
  contiguousStrides(like.sizes(), strides);
  return flat.view(like.sizes(), strides, 0);
}

Three groupsOf(const UniqueCall& call, const Tensor& self) {
  checkHasOrder(call.name, self);
  const Groups groups = uniqueElements(self.device(), call, toContiguous(self));
  return {groups.found, call.wants_inverse ? shapedLike(groups.inverse, self) : groups.inverse, groups.counts};
}

// Always sorted.
Three unique2(const Tensor& self, bool /*sorted*/, bool return_inverse, bool return_counts) {
  return groupsOf({"_unique2", /*sorts=*/true, return_inverse, return_counts}, self);
}

std::tuple<Tensor, Tensor> unique(const Tensor& self, bool /*sorted*/, bool return_inverse) {
  auto [elements, inverse, counts] = groupsOf({"_unique", /*sorts=*/true, return_inverse, false}, self);
  return {elements, inverse};
}

// Returns [tensor] with dimension [from] moved to place [to].
Tensor moved(const Tensor& tensor, size_t from, size_t to) {
  DimVector sizes = toDimVector(tensor.sizes());
  DimVector strides = toDimVector(tensor.strides());
  for (DimVector* numbers : {&sizes, &strides}) {
    const auto place = numbers->begin();
    const auto at = [&](size_t i) { return place + static_cast<std::ptrdiff_t>(i); };
    if (from < to) {
      std::rotate(at(from), at(from + 1), at(to + 1));
    } else {
      std::rotate(at(to), at(from), at(from + 1));
    }
  }
  return tensor.view(sizes, strides, tensor.storage_offset());
}

Three groupsOfSlices(std::string_view name, const Tensor& self, int64_t dim, bool sorts) {
  checkHasOrder(name, self);
  BOXCAR_CHECK(self.dim() > 0, "{}(): Dimension specified as {} but tensor has no dimensions", name, dim);
  const auto along = static_cast<size_t>(wrapDimension(dim, self.dim()));
  const int64_t count = self.sizes()[along];
  BOXCAR_CHECK(self.numel() > 0 || std::ranges::count(self.sizes(), 0) == (count == 0 ? 1 : 0),
               "{}(): There are 0 sized dimensions in [{}], and they aren't selected, so unique cannot be applied",
               name, fmt::join(self.sizes(), ", "));
  const Groups groups = uniqueSlices(self.device(), {name, sorts, true, true}, toContiguous(moved(self, along, 0)));
  return {moved(groups.found, 0, along), groups.inverse, groups.counts};
}

Three uniqueDim(const Tensor& self, int64_t dim, bool /*sorted*/, bool /*return_inverse*/, bool /*return_counts*/) {
  return groupsOfSlices("unique_dim", self, dim, /*sorts=*/true);
}

Three uniqueConsecutive(const Tensor& self, bool return_inverse, bool return_counts, std::optional<int64_t> dim) {
  // For one-dimensional tensors, slices are elements. Like in PyTorch, other slices always have their numbers and
  // counts, also along dimension -1 of these.
  const bool is_flat = !dim.has_value() || (self.dim() == 1 && *dim == 0);
  if (is_flat) return groupsOf({"unique_consecutive", /*sorts=*/false, return_inverse, return_counts}, self);
  if (self.dim() == 1 && wrapDimension(*dim, 1) == 0) {
    return groupsOf({"unique_consecutive", /*sorts=*/false, true, true}, self);
  }
  return groupsOfSlices("unique_consecutive", self, *dim, /*sorts=*/false);
}

}  // namespace

BOXCAR_NATIVE_KERNELS_OF_DATA(aten, m, uniqueElements, uniqueSlices) {
  m.impl("_unique", BOXCAR_FN(unique));
  m.impl("_unique2", BOXCAR_FN(unique2));
  m.impl("unique_dim", BOXCAR_FN(uniqueDim));
  m.impl("unique_consecutive", BOXCAR_FN(uniqueConsecutive));
}

}  // namespace boxcar::native
