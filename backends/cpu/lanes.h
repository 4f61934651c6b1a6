#pragma once

#include <cstdint>
#include <type_traits>

// Loops over short blocks of a fixed length, which become vector instructions.

namespace boxcar::cpu {

constexpr int64_t kLanes = 16;

// Calls body(i, std::integral_constant<int64_t, kLanes>()) for each whole block that begins at [i], and body(i,
// std::integral_constant<int64_t, 1>()) for each element of the rest.
template <class Body>
inline void inLanes(int64_t n, const Body& body) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) body(i, std::integral_constant<int64_t, kLanes>());
  for (; i < n; ++i) body(i, std::integral_constant<int64_t, 1>());
}

// For sums over [rows] rows that several threads compute: rows of as many chunks whatever the number of threads, so
// that the sums are always the same.
struct RowChunks {
  int64_t rows;
  int64_t size;   // of a chunk, at most
  int64_t count;  // of chunks

  explicit RowChunks(int64_t all)
      : rows(all), size(all <= kMost ? 1 : (all + kMost - 1) / kMost), count((all + size - 1) / size) {}
  int64_t begin(int64_t chunk) const { return chunk * size; }
  int64_t end(int64_t chunk) const { return (chunk + 1) * size < rows ? (chunk + 1) * size : rows; }

 private:
  static constexpr int64_t kMost = 32;
};

}  // namespace boxcar::cpu
