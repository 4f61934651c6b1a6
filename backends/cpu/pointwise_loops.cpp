#include <boxcar/backends/cpu/conversions.h>
#include <boxcar/backends/cpu/pointwise_loops.h>

#include <algorithm>
#include <cstdint>

namespace boxcar::cpu {

void repeatNumbers(Loop loop, const ElementSizes& sizes, char* const* data, const int64_t* steps, int64_t n0,
                   int64_t n1, const Scalar* params) {
  constexpr int64_t kBytes = 4096;
  alignas(64) char buffers[kMaxOperands - 1][kBytes];
  const int64_t longest = std::min(n0, kBytes / *std::max_element(sizes.bytes + 1, sizes.bytes + sizes.operands));
  char* part[kMaxOperands] = {};
  int64_t part_steps[2 * kMaxOperands] = {};
  std::copy_n(sizes.bytes, sizes.operands, part_steps);
  for (int64_t j = 0; j < n1; ++j) {
    for (int k = 0; k < sizes.operands; ++k) {
      part[k] = data[k] + j * steps[kMaxOperands + k];
      if (steps[k] != 0) continue;
      char* const buffer = buffers[k - 1];
      repeatElement(buffer, part[k], sizes.bytes[k], longest);
      part[k] = buffer;
    }
    for (int64_t i = 0; i < n0; i += longest) {
      loop(part, part_steps, std::min(longest, n0 - i), 1, params);
      for (int k = 0; k < sizes.operands; ++k) part[k] += longest * steps[k];
    }
  }
}

namespace detail {
void runInFloats(const FloatLoop& of_floats, char* const* data, const int64_t* steps, int64_t n0, int64_t n1,
                 const Scalar* params) {
  constexpr int64_t kBuffer = 256;
  constexpr int64_t kFloat = sizeof(float);
  alignas(64) float buffers[kMaxOperands][kBuffer];
  const Loop widen = conversionLoop(ScalarType::Float, of_floats.type);
  const Loop narrow = conversionLoop(of_floats.type, ScalarType::Float);
  for (int64_t j = 0; j < n1; ++j) {
    for (int64_t i = 0; i < n0; i += kBuffer) {
      const int64_t count = std::min(kBuffer, n0 - i);
      const auto addressOf = [&](int k) { return data[k] + j * steps[kMaxOperands + k] + i * steps[k]; };
      char* part[kMaxOperands] = {addressOf(0)};
      int64_t part_steps[2 * kMaxOperands] = {steps[0]};
      for (int k = of_floats.narrows ? 0 : 1; k <= of_floats.inputs; ++k) {
        part[k] = reinterpret_cast<char*>(buffers[k]);
        part_steps[k] = k > 0 && steps[k] == 0 ? 0 : kFloat;
        if (k > 0) convertRow(widen, part[k], kFloat, addressOf(k), steps[k], steps[k] == 0 ? 1 : count);
      }
      of_floats.loop(part, part_steps, count, 1, params);
      if (of_floats.narrows) convertRow(narrow, addressOf(0), steps[0], part[0], kFloat, count);
    }
  }
}

template <class T>
void runVectorRows(VectorUnaryRow<T> rows, char* const* data, const int64_t* steps, int64_t n0, int64_t n1,
                   const Scalar* params) {
  constexpr int64_t kBuffer = 256;
  constexpr int64_t kItemsize = sizeof(T);
  for (int64_t j = 0; j < n1; ++j) {
    char* out = data[0] + j * steps[kMaxOperands];
    const char* in = data[1] + j * steps[kMaxOperands + 1];
    if (steps[0] == kItemsize && steps[1] == kItemsize) {
      rows(reinterpret_cast<const T*>(in), reinterpret_cast<T*>(out), static_cast<size_t>(n0), params);
      continue;
    }
    T buffer[kBuffer];
    for (int64_t i = 0; i < n0; i += kBuffer) {
      const int64_t count = std::min(kBuffer, n0 - i);
      for (int64_t k = 0; k < count; ++k, in += steps[1]) buffer[k] = *reinterpret_cast<const T*>(in);
      rows(buffer, buffer, static_cast<size_t>(count), params);
      for (int64_t k = 0; k < count; ++k, out += steps[0]) *reinterpret_cast<T*>(out) = buffer[k];
    }
  }
}
template void runVectorRows(VectorUnaryRow<float>, char* const*, const int64_t*, int64_t, int64_t, const Scalar*);
template void runVectorRows(VectorUnaryRow<double>, char* const*, const int64_t*, int64_t, int64_t, const Scalar*);

}  // namespace detail
}  // namespace boxcar::cpu
