#pragma once

// The convolutions and products of bench/models, by which libraries are compared, and how they are timed.

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace shapes {

// A square image and kernel; the padding is half the kernel.
struct Convolution {
  int64_t batch, in, size, out, kernel, stride, groups;
  constexpr int64_t outSize() const { return (size + 2 * (kernel / 2) - kernel) / stride + 1; }
};

struct Product {
  int64_t rows, in, out;
};

constexpr Convolution kConvolutions[] = {
    {1, 3, 224, 64, 7, 2, 1},     {1, 64, 56, 64, 3, 1, 1},     {1, 128, 28, 128, 3, 1, 1},
    {1, 256, 14, 256, 3, 1, 1},   {1, 512, 7, 512, 3, 1, 1},    {8, 64, 56, 64, 3, 1, 1},
    {8, 256, 14, 256, 3, 1, 1},   {8, 512, 7, 512, 3, 1, 1},    {1, 64, 56, 256, 1, 1, 1},
    {1, 256, 14, 1024, 1, 1, 1},  {1, 1024, 14, 256, 1, 1, 1},  {8, 256, 14, 1024, 1, 1, 1},
    {1, 24, 56, 144, 1, 1, 1},    {1, 96, 14, 576, 1, 1, 1},    {1, 160, 7, 960, 1, 1, 1},
    {8, 96, 14, 576, 1, 1, 1},    {1, 144, 56, 144, 3, 1, 144}, {1, 384, 14, 384, 3, 1, 384},
    {1, 672, 14, 672, 5, 1, 672}, {8, 384, 14, 384, 3, 1, 384}, {1, 96, 112, 96, 3, 2, 96},
    {1, 96, 56, 96, 7, 1, 96},
};
constexpr Product kProducts[] = {{1, 768, 3072}, {8, 768, 3072}, {128, 768, 768}, {128, 768, 3072}, {128, 3072, 768}};

inline double microseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) * 1e6 + double(now.tv_nsec) / 1e3;
}

// Returns the least microseconds of this thread in a call.
template <class Call>
double least(Call&& call) {
  call();
  double best = 1e30;
  const double begin = microseconds();
  for (int calls = 0; calls < 20 || microseconds() - begin < 150e3; ++calls) {
    const double start = microseconds();
    call();
    best = std::min(best, microseconds() - start);
  }
  return best;
}

inline void print(double time) { std::printf("%.2f\n", time); }

}  // namespace shapes
