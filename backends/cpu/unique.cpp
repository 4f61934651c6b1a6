#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/sort_entries.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/dense/unique.h>
#include <boxcar/backends/shape/dims.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace boxcar::cpu {
namespace {

Tensor longs(int64_t count) {
  const int64_t sizes[] = {count};
  return Tensor::allocate(sizes, ScalarType::Long);
}

// Groups of equal things among [count] that are visited in an order: which stands for each group, where each thing went
// and how many went there.
struct GroupPlaces {
  std::vector<int64_t> firsts;
  Tensor inverse;  // empty where it is not wanted
  Tensor counts;
};

//   order(i)         the thing at place i of the order
//   differs(a, b)    whether two things that follow each other differ
template <class Order, class Differs>
GroupPlaces groupsOf(int64_t count, bool wants_inverse, bool wants_counts, const Order& order, const Differs& differs) {
  GroupPlaces groups;
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

// Elements differ by value; NaN is not even equal to itself.
template <class T>
struct DifferentElements {
  const T* elements;
  bool operator()(int64_t a, int64_t b) const {
    return static_cast<Compute<T>>(elements[a]) != static_cast<Compute<T>>(elements[b]);
  }
};

template <class T>
Groups groupElements(const UniqueCall& call, const Tensor& flat) {
  const int64_t count = flat.numel();
  const DifferentElements<T> differs{static_cast<const T*>(flat.data_ptr())};
  const auto result = [&](const auto& order) -> Groups {
    const GroupPlaces groups = groupsOf(count, call.wants_inverse, call.wants_counts, order, differs);
    return {elementsAt<T>(flat, groups.firsts), groups.inverse, groups.counts};
  };
  if (!call.sorts) return result([](int64_t i) { return i; });
  Groups groups;
  visitEntry<T>(count, [&]<class Entry>(std::type_identity<Entry>) {
    std::vector<Entry> entries(static_cast<size_t>(count));
    std::vector<Entry> scratch(static_cast<size_t>(count));
    fillEntries<Entry, T>(entries.data(), static_cast<const char*>(flat.data_ptr()), sizeof(T), count, false);
    const Entry* sorted = sortEntries(entries.data(), scratch.data(), count);
    groups = result([=](int64_t i) { return sorted[i].index(); });
  });
  return groups;
}

Groups group(const UniqueCall& call, const Tensor& flat) {
  return visitScalarType(kRealAndBoolTypes, flat.scalar_type(), call.name,
                         [&]<class T>(std::type_identity<T>) { return groupElements<T>(call, flat); });
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

Groups groupSlices(const UniqueCall& call, const Tensor& moved) {
  const int64_t count = moved.sizes()[0];
  const int64_t length = count == 0 ? 0 : moved.numel() / count;
  return visitScalarType(kRealAndBoolTypes, moved.scalar_type(), call.name,
                         [&]<class T>(std::type_identity<T>) -> Groups {
                           const Slices<T> slices{static_cast<const T*>(moved.data_ptr()), length};
                           std::vector<int64_t> order(static_cast<size_t>(count));
                           std::iota(order.begin(), order.end(), 0);
                           if (call.sorts)
                             std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return slices.before(a, b); });
                           const GroupPlaces groups = groupsOf(
                               count, call.wants_inverse, call.wants_counts,
                               [&](int64_t i) { return order[static_cast<size_t>(i)]; }, slices);
                           DimVector sizes = toDimVector(moved.sizes());
                           sizes[0] = static_cast<int64_t>(groups.firsts.size());
                           const Tensor found = Tensor::allocate(sizes, moved.scalar_type());
                           auto* to = static_cast<T*>(found.data_ptr());
                           for (const int64_t first : groups.firsts)
                             to = std::copy_n(slices.elements + first * length, length, to);
                           return {found, groups.inverse, groups.counts};
                         });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::dense {

constinit DeviceFunction<UniqueElements> uniqueElements("unique", cpu::group);
constinit DeviceFunction<UniqueSlices> uniqueSlices("unique_dim", cpu::groupSlices);

}  // namespace boxcar::dense
