#include <boxcar/backends/cpu/callable_ref.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/sort_entries.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/native/pointwise.h>
#include <boxcar/backends/native/unique.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace boxcar::cpu {
namespace {

Tensor longs(int64_t count) {
  const int64_t sizes[] = {count};
  return Tensor::allocate(sizes, ScalarType::Long);
}

// Groups of equal items among [count] items visited in an order: the representative of each group, the group of each
// item, and the size of each group.
struct GroupPlaces {
  std::vector<int64_t> firsts;
  Tensor inverse;  // empty if not wanted
  Tensor counts;
};

// Groups adjacent equal items.
//   order(i)         the item at position i of the order
//   differs(a, b)    whether two items that follow each other differ
GroupPlaces groupsOf(int64_t count, bool wants_inverse, bool wants_counts, CallableRef<int64_t(int64_t)> order,
                     CallableRef<bool(int64_t, int64_t)> differs) {
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

// Returns the slices of contiguous [from] that represent groups; each slice has [sizes] without the first, which
// becomes the number of slices.
Tensor slicesAt(const Tensor& from, DimVector sizes, const std::vector<int64_t>& places) {
  size_t bytes = from.itemsize();
  for (size_t i = 1; i < sizes.size(); ++i) bytes *= static_cast<size_t>(sizes[i]);
  sizes[0] = static_cast<int64_t>(places.size());
  Tensor result = Tensor::allocate(sizes, from.scalar_type());
  const auto* slices = static_cast<const char*>(from.data_ptr());
  auto* to = static_cast<char*>(result.data_ptr());
  for (size_t i = 0; bytes > 0 && i < places.size(); ++i) {
    std::memcpy(to + i * bytes, slices + static_cast<size_t>(places[i]) * bytes, bytes);
  }
  return result;
}

// Elements differ by value; NaN differs even from itself.
template <class T>
struct DifferentElements {
  const T* elements;
  bool operator()(int64_t a, int64_t b) const { return elements[a] != elements[b]; }
};

template <class T, class Entry>
Groups groupElements(const UniqueCall& call, const Tensor& given) {
  const Tensor flat = asOrdered(given, scalarTypeOf<T>);
  const int64_t count = flat.numel();
  const auto* elements = static_cast<const T*>(flat.data_ptr());
  const DifferentElements<T> differs{elements};
  const auto result = [&](CallableRef<int64_t(int64_t)> order) -> Groups {
    const GroupPlaces groups = groupsOf(count, call.wants_inverse, call.wants_counts, order, differs);
    return {slicesAt(given, {count}, groups.firsts), groups.inverse, groups.counts};
  };
  if (!call.sorts) return result([](int64_t i) { return i; });
  std::vector<Entry> entries(static_cast<size_t>(count));
  std::vector<Entry> scratch(static_cast<size_t>(count));
  fillEntries<Entry, T>(entries.data(), reinterpret_cast<const char*>(elements), sizeof(T), count, false);
  const Entry* sorted = sortEntries(entries.data(), scratch.data(), count);
  return result([=](int64_t i) { return sorted[i].index(); });
}

Groups group(const UniqueCall& call, const Tensor& flat) {
  Groups groups;
  visitEntry(kRealAndBoolTypes, flat.scalar_type(), call.name, flat.numel(),
             [&]<class T, class Entry>(std::type_identity<T>, std::type_identity<Entry>) {
               groups = groupElements<T, Entry>(call, flat);
             });
  return groups;
}

// The slices along one dimension, each a row of contiguous elements.
template <class T>
struct Slices {
  const T* elements;
  int64_t length;

  T at(int64_t slice, int64_t i) const { return elements[slice * length + i]; }
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
  const ScalarType type = orderedType(kRealAndBoolTypes, moved.scalar_type(), call.name);
  const Tensor converted = asOrdered(moved, type);
  return visitScalarType(kOrderedTypes, type, call.name, [&]<class T>(std::type_identity<T>) -> Groups {
    const Slices<T> slices{static_cast<const T*>(converted.data_ptr()), length};
    std::vector<int64_t> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    const auto before = [&](int64_t a, int64_t b) { return slices.before(a, b); };
    if (call.sorts) std::ranges::stable_sort(order, CallableRef<bool(int64_t, int64_t)>(before));
    const GroupPlaces groups = groupsOf(
        count, call.wants_inverse, call.wants_counts, [&](int64_t i) { return order[static_cast<size_t>(i)]; }, slices);
    return {slicesAt(moved, toDimVector(moved.sizes()), groups.firsts), groups.inverse, groups.counts};
  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, uniqueElements, cpu::group)
BOXCAR_REGISTER_STUB(CPU, uniqueSlices, cpu::groupSlices)

}  // namespace boxcar::native
