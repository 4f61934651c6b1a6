#pragma once

#include <boxcar/backends/functors/scan.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstddef>
#include <cstdint>

// Scans, which nvcc compiles.

namespace boxcar::cuda {

inline constexpr int kScanThreads = 256;
// The maximum number of elements that a block processes at a time. Parts of rows consist of whole tiles.
inline constexpr int64_t kScanTile = 2048;
// The maximum size of the state carried from one part of a row to the next.
inline constexpr size_t kScanCarriedBytes = 16;

// Contiguous elements viewed as [outer, length, inner] and scanned along the middle dimension. If [inner] is 1, [parts]
// blocks may share a row of [length].
struct ScanLaunch {
  const void* in;
  void* out;
  int64_t* indices;  // for cummax and cummin
  void* totals;      // kScanCarriedBytes for each part, if a row has several
  ScalarType type;
  int64_t outer;
  int64_t length;
  int64_t inner;
  int64_t parts;
  int64_t part_length;
  bool by_threads;  // each thread scans a whole line
};

void launchScan(const ScanLaunch& launch, functors::Scan scan);
void launchScanExtremes(const ScanLaunch& launch, bool greatest);

}  // namespace boxcar::cuda
