#include <boxcar/backends/cpu/vector_pooling.h>
#include <boxcar/backends/functors/windows.h>

namespace boxcar::cpu {

void greatestOfTaps(const float* in, const WindowTap* taps, size_t count, size_t n, int64_t first, float* out,
                    int64_t* indices) {
  for (size_t i = 0; i < n; ++i) {
    float value = in[taps[0].offset + static_cast<int64_t>(i)];
    int32_t place = taps[0].place;
    for (size_t k = 1; k < count; ++k) {
      const float element = in[taps[k].offset + static_cast<int64_t>(i)];
      const bool takes = functors::isGreater(element, value);
      value = takes ? element : value;
      place = takes ? taps[k].place : place;
    }
    out[i] = value;
    indices[i] = first + place;
  }
}

void divideSumsOfRows(const float* in, int64_t step, int64_t rows, size_t n, float divisor, float* out) {
  for (size_t i = 0; i < n; ++i) {
    float sum = 0;
    for (int64_t k = 0; k < rows; ++k) sum += in[k * step + static_cast<int64_t>(i)];
    out[i] = sum / divisor;
  }
}

}  // namespace boxcar::cpu
