#pragma once

#include <cstddef>
#include <cstdint>

// Parts of pools over images, vectorised for the CPU that the program runs on.

namespace boxcar::cpu {

// One pixel of a window: where its channels begin, in elements, and its place from the window's first one.
struct WindowTap {
  int64_t offset;
  int32_t place;
};

// Writes to [out] the greatest element of each of [n] channels among the [count] pixels of a window, at least one, and
// to [indices] its place plus [first]. Among equal elements the first wins, among NaNs the last.
void greatestOfTaps(const float* in, const WindowTap* taps, size_t count, size_t n, int64_t first, float* out,
                    int64_t* indices);

// Writes to [out] the sum of each of [n] columns, divided by [divisor]. There are [rows] rows, [step] elements apart,
// which are added to 0 one after another.
void divideSumsOfRows(const float* in, int64_t step, int64_t rows, size_t n, float divisor, float* out);

}  // namespace boxcar::cpu
