#pragma once

#include <boxcar/backends/elements/scan.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstddef>
#include <cstdint>

// Scans, which nvcc compiles.

namespace boxcar::cuda {

inline constexpr int kScanThreads = 256;
// Elements that a block goes through at a time, at most; parts of rows are made of whole tiles.
inline constexpr int64_t kScanTile = 2048;
// The most that is carried from one part of a row to the next.
inline constexpr size_t kScanCarriedBytes = 16;

// Contiguous elements seen as [outer, length, inner], scanned over the middle. Where [inner] is 1 a row of [length] may
// be shared by [parts] blocks.
struct ScanLaunch {
  const void* in;
  void* out;
  int64_t* indices;  // of cummax and cummin
  void* totals;      // kScanCarriedBytes for each part, where a row has several
  ScalarType type;
  int64_t outer;
  int64_t length;
  int64_t inner;
  int64_t parts;
  int64_t part_length;
  bool by_threads;  // a thread goes along a line by itself
};

void launchScan(const ScanLaunch& launch, elements::Scan scan);
void launchScanExtremes(const ScanLaunch& launch, bool greatest);

}  // namespace boxcar::cuda
