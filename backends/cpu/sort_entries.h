#pragma once

#include <boxcar/backends/cpu/conversions.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/ordered_key.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/stop_request.h>

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

// Sorting by keys: every element becomes an unsigned number with the same ordering, with its index in the bits below.
// All entries therefore differ, and any sorting algorithm is stable.

namespace boxcar::cpu {

// A 32-bit key above a 32-bit index.
struct PackedEntry {
  uint64_t bits;

  static constexpr int kKeyBits = 32;
  static constexpr int64_t kMaxCount = int64_t{1} << 32;
  static PackedEntry make(uint32_t key, int64_t index) { return {uint64_t{key} << 32 | static_cast<uint64_t>(index)}; }
  static PackedEntry greatest() { return {~uint64_t{0}}; }
  uint64_t key() const { return bits >> 32; }
  int64_t index() const { return static_cast<int64_t>(bits & 0xffffffff); }
  friend bool operator<(PackedEntry a, PackedEntry b) { return a.bits < b.bits; }
};

// A 64-bit key, or a shorter one in lines that are too long for PackedEntry.
struct WideEntry {
  uint64_t sort_key;
  int64_t at;

  static constexpr int kKeyBits = 64;
  static constexpr int64_t kMaxCount = std::numeric_limits<int64_t>::max();
  static WideEntry make(uint64_t key, int64_t index) { return {key, index}; }
  static WideEntry greatest() { return {~uint64_t{0}, kMaxCount}; }
  uint64_t key() const { return sort_key; }
  int64_t index() const { return at; }
  friend bool operator<(const WideEntry& a, const WideEntry& b) {
    return a.sort_key != b.sort_key ? a.sort_key < b.sort_key : a.at < b.at;
  }
};

// Elements are ordered and compared as one of four types that can represent all others.
template <class T>
using Ordered = std::conditional_t<std::is_integral_v<T> && (sizeof(T) < sizeof(int32_t)), int32_t, Compute<T>>;

// Returns the ScalarType of Ordered for [type], one of [types].
template <class Types>
ScalarType orderedType(Types types, ScalarType type, std::string_view name) {
  return visitScalarType(types, type, name, []<class T>(std::type_identity<T>) { return scalarTypeOf<Ordered<T>>; });
}

inline constexpr ElementTypes<int32_t, int64_t, float, double> kOrderedTypes;

// Returns [tensor] itself if its elements have [type], else a converted copy.
inline Tensor asOrdered(const Tensor& tensor, ScalarType type) {
  return tensor.scalar_type() == type ? tensor : native::convertTo(tensor, type);
}

// Calls body(std::type_identity<T>(), std::type_identity<Entry>()) with the type that elements are ordered as, and the
// smallest entry type for lines of [count] elements.
template <class Types, class Body>
void visitEntry(Types types, ScalarType type, std::string_view name, int64_t count, Body&& body) {
  visitScalarType(kOrderedTypes, orderedType(types, type, name), name, [&]<class T>(std::type_identity<T> element) {
    if constexpr (sizeof(T) == 4) {
      if (count < PackedEntry::kMaxCount) return body(element, std::type_identity<PackedEntry>());
    }
    body(element, std::type_identity<WideEntry>());
  });
}

// Returns the size to allocate for a line of [count] elements. Throws Error if no memory is that large, before the size
// in bytes is computed.
inline size_t roomFor(int64_t count) {
  BOXCAR_CHECK(count < int64_t{1} << 48, "out of memory: there is no room to put {} elements in order", count);
  return static_cast<size_t>(count);
}

// A line of elements in the type that they are ordered as: the line itself or a converted copy.
class OrderedLine final {
 public:
  OrderedLine(ScalarType from, ScalarType to)
      : itemsize_(static_cast<int64_t>(elementSize(to))), convert_(from != to ? conversionLoop(to, from) : nullptr) {}

  // The first element of a line, and the step between its elements.
  struct Read {
    const char* in;
    int64_t step;
  };
  Read read(const char* in, int64_t step, int64_t count) {
    if (convert_ == nullptr) return {in, step};
    copy_.resize(roomFor(count) * static_cast<size_t>(itemsize_), boost::container::default_init);
    convertRow(convert_, copy_.data(), itemsize_, in, step, count);
    return {copy_.data(), itemsize_};
  }

 private:
  int64_t itemsize_;
  Loop convert_;
  boost::container::small_vector<char, 512> copy_;
};

// The entries of one line; short lines need no allocation.
template <class Entry>
using Entries = boost::container::small_vector<Entry, 128>;

// Returns the entry of the element at [in] with index [index].
template <class Entry, class T>
inline Entry entryOf(const char* in, int64_t index, bool descending) {
  const auto key = orderedKey(*reinterpret_cast<const T*>(in));
  return Entry::make(descending ? static_cast<decltype(key)>(~key) : key, index);
}

template <class Entry, class T>
void fillEntries(Entry* entries, const char* in, int64_t step, int64_t count, bool descending) {
  for (int64_t i = 0; i < count; ++i) entries[i] = entryOf<Entry, T>(in + i * step, i, descending);
}

namespace detail {

// Sorts digit by digit, the lowest first; skips digits that all entries share. Returns where the result is: [entries]
// or [scratch].
template <int kDigitBits, class Entry>
Entry* radixSort(Entry* entries, Entry* scratch, int64_t count) {
  constexpr int kDigits = (Entry::kKeyBits + kDigitBits - 1) / kDigitBits;
  constexpr size_t kBuckets = size_t{1} << kDigitBits;
  using Counts = std::array<std::array<uint32_t, kBuckets>, kDigits>;
  const auto digitOf = [](const Entry& entry, int digit) {
    return static_cast<size_t>(entry.key() >> (digit * kDigitBits)) & (kBuckets - 1);
  };
  Counts counts{};
  for (int64_t i = 0; i < count; ++i) {
#pragma GCC unroll 8
    for (int digit = 0; digit < kDigits; ++digit) ++counts[static_cast<size_t>(digit)][digitOf(entries[i], digit)];
  }
  for (int digit = 0; digit < kDigits; ++digit) {
    auto& starts = counts[static_cast<size_t>(digit)];
    if (starts[digitOf(entries[0], digit)] == static_cast<uint32_t>(count)) continue;
    if (count >= kStopInterval) checkStop();
    uint32_t start = 0;
    for (uint32_t& bucket : starts) start += std::exchange(bucket, start);
    for (int64_t i = 0; i < count; ++i) scratch[starts[digitOf(entries[i], digit)]++] = entries[i];
    std::swap(entries, scratch);
  }
  return entries;
}

}  // namespace detail

// Sorts [count] entries, whose indices are in ascending order. Returns where the result is: [entries] or [scratch].
template <class Entry>
Entry* sortEntries(Entry* entries, Entry* scratch, int64_t count) {
  constexpr int64_t kFewForRadix = 200;
  constexpr int64_t kManyForRadix = 16384;
  if (count <= kFewForRadix || count > int64_t{std::numeric_limits<uint32_t>::max()}) {
    std::sort(entries, entries + count);
    return entries;
  }
  if (count < kManyForRadix) return detail::radixSort<8>(entries, scratch, count);
  return detail::radixSort<11>(entries, scratch, count);
}

}  // namespace boxcar::cpu
