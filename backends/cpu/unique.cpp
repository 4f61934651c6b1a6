#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/sort_entries.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/dense/write_out.h>
#include <boxcar/backends/elements/arithmetic.h>
#include <boxcar/backends/shape/sorting.h>
#include <boxcar/dispatcher/library.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

// Results are as large as there are different elements, which is not known without looking.

namespace boxcar::cpu {
namespace {

using Three = std::tuple<Tensor, Tensor, Tensor>;

Tensor longs(int64_t count) {
  const int64_t sizes[] = {count};
  return Tensor::allocate(sizes, ScalarType::Long);
}

void checkOnCpu(std::string_view name, const Tensor& self) {
  checkCpuOrMeta(self);
  BOXCAR_CHECK(!self.is_meta(), "{}(): the sizes of the result depend on elements, which tensors on Meta have not",
               name);
  shape::checkOrdered(name, self);
}

// Groups of equal things among [count] that are visited in an order: which stands for each group, where each thing went
// and how many went there.
struct Groups {
  std::vector<int64_t> firsts;
  Tensor inverse;  // empty where it is not wanted
  Tensor counts;
};

//   order(i)         the thing at place i of the order
//   differs(a, b)    whether two things that follow each other differ
template <class Order, class Differs>
Groups groupsOf(int64_t count, bool wants_inverse, bool wants_counts, const Order& order, const Differs& differs) {
  Groups groups;
  groups.inverse = longs(wants_inverse ? count : 0);
  std::vector<int64_t> starts;
  int64_t* inverse = static_cast<int64_t*>(groups.inverse.data_ptr());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = order(i);
    if (i == 0 || differs(order(i - 1), at)) {
      groups.firsts.push_back(at);
      starts.push_back(i);
    }
    if (wants_inverse) inverse[at] = static_cast<int64_t>(starts.size()) - 1;
  }
  groups.counts = longs(wants_counts ? static_cast<int64_t>(starts.size()) : 0);
  if (wants_counts) {
    auto* counts = static_cast<int64_t*>(groups.counts.data_ptr());
    starts.push_back(count);
    for (size_t i = 0; i + 1 < starts.size(); ++i) counts[i] = starts[i + 1] - starts[i];
  }
  return groups;
}

// The elements of contiguous [flat] that stand for groups, in one dimension.
template <class T>
Tensor elementsAt(const Tensor& flat, const std::vector<int64_t>& places) {
  const int64_t sizes[] = {static_cast<int64_t>(places.size())};
  Tensor result = Tensor::allocate(sizes, flat.scalar_type());
  const auto* from = static_cast<const T*>(flat.data_ptr());
  auto* to = static_cast<T*>(result.data_ptr());
  for (size_t i = 0; i < places.size(); ++i) to[i] = from[places[i]];
  return result;
}

Tensor shapedLike(const Tensor& flat, const Tensor& like) {
  if (flat.numel() != like.numel()) return flat;
  DimVector strides(like.sizes().size(), boost::container::default_init);
  contiguousStrides(like.sizes(), strides);
  return flat.view(like.sizes(), strides, 0);
}

// Elements differ by value; NaN is not even equal to itself.
template <class T>
struct DifferentElements {
  const T* elements;
  bool operator()(int64_t a, int64_t b) const {
    return static_cast<Compute<T>>(elements[a]) != static_cast<Compute<T>>(elements[b]);
  }
};

Three uniqueElements(std::string_view name, const Tensor& self, bool wants_inverse, bool wants_counts) {
  checkOnCpu(name, self);
  const Tensor flat = toContiguous(self);
  return visitScalarType(kRealAndBoolTypes, self.scalar_type(), name, [&]<class T>(std::type_identity<T>) {
    Three result;
    const int64_t count = flat.numel();
    visitEntry<T>(count, [&]<class Entry>(std::type_identity<Entry>) {
      std::vector<Entry> entries(static_cast<size_t>(count));
      std::vector<Entry> scratch(static_cast<size_t>(count));
      fillEntries<Entry, T>(entries.data(), static_cast<const char*>(flat.data_ptr()), sizeof(T), count, false);
      const Entry* sorted = sortEntries(entries.data(), scratch.data(), count);
      const Groups groups = groupsOf(
          count, wants_inverse, wants_counts, [=](int64_t i) { return sorted[i].index(); },
          DifferentElements<T>{static_cast<const T*>(flat.data_ptr())});
      result = {elementsAt<T>(flat, groups.firsts), wants_inverse ? shapedLike(groups.inverse, self) : groups.inverse,
                groups.counts};
    });
    return result;
  });
}

// Sorted even where it need not be.
Three unique2(const Tensor& self, bool /*sorted*/, bool return_inverse, bool return_counts) {
  // The counts of PyTorch need the inverse, which it then gives, too.
  return uniqueElements("_unique2", self, return_inverse || return_counts, return_counts);
}

std::tuple<Tensor, Tensor> unique(const Tensor& self, bool /*sorted*/, bool return_inverse) {
  auto [elements, inverse, counts] = uniqueElements("_unique", self, return_inverse, false);
  return {elements, inverse};
}

// Dimension [dim] and the first exchanged.
Tensor exchanged(const Tensor& tensor, size_t dim) {
  DimVector sizes = toDimVector(tensor.sizes());
  DimVector strides = toDimVector(tensor.strides());
  std::swap(sizes[0], sizes[dim]);
  std::swap(strides[0], strides[dim]);
  return tensor.view(sizes, strides, tensor.storage_offset());
}

// The slices of one dimension, each a row of elements that follow each other.
template <class T>
struct Slices {
  const T* elements;
  int64_t length;

  Compute<T> at(int64_t slice, int64_t i) const { return static_cast<Compute<T>>(elements[slice * length + i]); }
  bool before(int64_t a, int64_t b) const {
    for (int64_t i = 0; i < length; ++i) {
      if (at(a, i) < at(b, i)) return true;
      if (at(a, i) > at(b, i)) return false;
    }
    return false;
  }
  bool operator()(int64_t a, int64_t b) const {
    for (int64_t i = 0; i < length; ++i) {
      if (at(a, i) != at(b, i)) return true;
    }
    return false;
  }
};

Three uniqueSlices(std::string_view name, const Tensor& self, int64_t dim, bool sorts) {
  checkOnCpu(name, self);
  BOXCAR_CHECK(self.dim() > 0, "{}(): Dimension specified as {} but tensor has no dimensions", name, dim);
  const auto along = static_cast<size_t>(wrapDimension(dim, self.dim()));
  const int64_t count = self.sizes()[along];
  BOXCAR_CHECK(self.numel() > 0 || std::ranges::count(self.sizes(), 0) == (count == 0 ? 1 : 0),
               "{}(): There are 0 sized dimensions in [{}], and they aren't selected, so unique cannot be applied",
               name, fmt::join(self.sizes(), ", "));
  const Tensor moved = toContiguous(exchanged(self, along));
  const int64_t length = count == 0 ? 0 : moved.numel() / count;
  return visitScalarType(kRealAndBoolTypes, self.scalar_type(), name, [&]<class T>(std::type_identity<T>) -> Three {
    const Slices<T> slices{static_cast<const T*>(moved.data_ptr()), length};
    std::vector<int64_t> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    if (sorts) std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return slices.before(a, b); });
    const Groups groups = groupsOf(
        count, true, true, [&](int64_t i) { return order[static_cast<size_t>(i)]; }, slices);
    DimVector sizes = toDimVector(moved.sizes());
    sizes[0] = static_cast<int64_t>(groups.firsts.size());
    const Tensor found = Tensor::allocate(sizes, self.scalar_type());
    auto* to = static_cast<T*>(found.data_ptr());
    for (const int64_t first : groups.firsts) to = std::copy_n(slices.elements + first * length, length, to);
    return {exchanged(found, along), groups.inverse, groups.counts};
  });
}

Three uniqueDim(const Tensor& self, int64_t dim, bool /*sorted*/, bool /*return_inverse*/, bool /*return_counts*/) {
  return uniqueSlices("unique_dim", self, dim, /*sorts=*/true);
}

Three uniqueConsecutive(const Tensor& self, bool return_inverse, bool return_counts, std::optional<int64_t> dim) {
  // Of one dimension there are only the elements.
  if (dim.has_value() && !(self.dim() == 1 && wrapDimension(*dim, 1) == 0)) {
    return uniqueSlices("unique_consecutive", self, *dim, /*sorts=*/false);
  }
  checkOnCpu("unique_consecutive", self);
  const Tensor flat = toContiguous(self);
  return visitScalarType(kRealAndBoolTypes, self.scalar_type(), "unique_consecutive",
                         [&]<class T>(std::type_identity<T>) -> Three {
                           const Groups groups = groupsOf(
                               flat.numel(), return_inverse, return_counts, [](int64_t i) { return i; },
                               DifferentElements<T>{static_cast<const T*>(flat.data_ptr())});
                           return {elementsAt<T>(flat, groups.firsts),
                                   return_inverse ? shapedLike(groups.inverse, self) : groups.inverse, groups.counts};
                         });
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("_unique", BOXCAR_FN(unique));
  m.impl("_unique2", BOXCAR_FN(unique2));
  m.impl("unique_dim", BOXCAR_FN(uniqueDim));
  m.impl("unique_consecutive", BOXCAR_FN(uniqueConsecutive));
}

}  // namespace boxcar::cpu
