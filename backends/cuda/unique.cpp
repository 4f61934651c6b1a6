#include <boxcar/backends/cuda/select.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/unique.h>
#include <boxcar/ops.h>

#include <optional>
#include <tuple>

// Composed of other operators: the items are sorted, and each item that differs from the previous one starts a group.

namespace boxcar::cuda {
namespace {

using native::Groups;
using native::UniqueCall;

Tensor noLongs(Device device) {
  const int64_t none[] = {0};
  return Tensor::allocate(none, ScalarType::Long, device);
}

// Returns, for each of [count] sorted items, whether it starts a group; [differs] says so for all but the first.
Tensor beginnings(int64_t count, const Tensor& differs) {
  const Tensor result = Tensor::allocate({&count, 1}, ScalarType::Bool, differs.device());
  Tensor first = boxcar::narrow(result, 0, 0, 1);
  boxcar::fill_(first, true);
  native::copyElements(boxcar::narrow(result, 0, 1, count - 1), differs);
  return result;
}

// Returns the groups of [ordered], items along its first dimension. [order] holds their original positions, if they
// were reordered.
Groups groupsOf(const UniqueCall& call, const Tensor& ordered, const Tensor& differs,
                const std::optional<Tensor>& order) {
  const int64_t count = ordered.size(0);
  const Tensor begins = beginnings(count, differs);
  const Tensor starts = placesOfTrue(begins);
  Groups groups{boxcar::index_select(ordered, 0, starts), noLongs(ordered.device()), noLongs(ordered.device())};
  if (call.wants_inverse) {
    groups.inverse = boxcar::sub(boxcar::cumsum(begins, 0), 1);
    if (order.has_value()) groups.inverse = boxcar::scatter(groups.inverse, 0, *order, groups.inverse);
  }
  if (call.wants_counts) {
    const int64_t one[] = {1};
    const Tensor end = boxcar::full(one, count, ScalarType::Long, std::nullopt, ordered.device());
    groups.counts = boxcar::diff(starts, 1, 0, std::nullopt, end);
  }
  return groups;
}

// Compares each item along the first dimension with the previous one.
Tensor differences(const Tensor& ordered) {
  const int64_t count = ordered.size(0) - 1;
  return boxcar::ne(boxcar::narrow(ordered, 0, 1, count), boxcar::narrow(ordered, 0, 0, count));
}

Groups nothing(const Tensor& self) { return {self, noLongs(self.device()), noLongs(self.device())}; }

Groups groupElements(const UniqueCall& call, const Tensor& self) {
  const int64_t sizes[] = {self.numel()};
  const int64_t strides[] = {1};
  const Tensor flat = self.view(sizes, strides, self.storage_offset());
  if (flat.numel() == 0) return nothing(boxcar::empty_like(flat));
  if (!call.sorts) return groupsOf(call, flat, differences(flat), std::nullopt);
  const auto [sorted, order] = boxcar::sort(flat, 0, /*descending=*/false);
  return groupsOf(call, sorted, differences(sorted), order);
}

// Returns the lexicographic order of [rows], by sorting by one column after another, starting with the last.
Tensor orderOfRows(const Tensor& rows) {
  Tensor order;
  for (int64_t column = rows.size(1); column-- > 0;) {
    const Tensor elements = boxcar::select(rows, 1, column);
    const Tensor next = std::get<1>(
        boxcar::sort(order.defined() ? boxcar::index_select(elements, 0, order) : elements, 0, /*descending=*/false));
    order = order.defined() ? boxcar::index_select(order, 0, next) : next;
  }
  return order;
}

Groups groupSlices(const UniqueCall& call, const Tensor& slices) {
  const int64_t count = slices.size(0);
  if (count == 0) return nothing(boxcar::empty_like(slices));
  const int64_t sizes[] = {count, slices.numel() / count};
  const Tensor rows = boxcar::reshape(slices, sizes);
  std::optional<Tensor> order;
  if (call.sorts) order = orderOfRows(rows);
  const Tensor ordered = order.has_value() ? boxcar::index_select(rows, 0, *order) : rows;
  Groups groups = groupsOf(call, ordered, boxcar::any(differences(ordered), 1), order);
  DimVector found = toDimVector(slices.sizes());
  found[0] = groups.found.size(0);
  groups.found = boxcar::reshape(groups.found, found);
  return groups;
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::uniqueElements, groupElements)
BOXCAR_REGISTER_STUB(CUDA, native::uniqueSlices, groupSlices)

}  // namespace boxcar::cuda
