#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/cpu/strided_loop.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/shape/layout.h>
#include <boxcar/backends/shape/views.h>
#include <boxcar/ivalue/error.h>

#include <span>

namespace boxcar::cpu {
namespace {

struct Words {
  uint64_t low, high;
};

template <class Word>
void copyRows(char* const* data, const int64_t* steps, int64_t n0, int64_t n1) {
  for (int64_t j = 0; j < n1; ++j) {
    char* const to = data[0] + j * steps[kMaxOperands];
    const char* const from = data[1] + j * steps[kMaxOperands + 1];
    if (steps[0] == sizeof(Word) && steps[1] == -static_cast<int64_t>(sizeof(Word))) {
      // Backwards, in a loop of its own, which the compiler makes vectors of.
      auto* out = reinterpret_cast<Word*>(to);
      const auto* in = reinterpret_cast<const Word*>(from);
      for (int64_t i = 0; i < n0; ++i) out[i] = in[-i];
      continue;
    }
    for (int64_t i = 0; i < n0; ++i) {
      *reinterpret_cast<Word*>(to + i * steps[0]) = *reinterpret_cast<const Word*>(from + i * steps[1]);
    }
  }
}

StridedLoop::Body rowsFor(size_t itemsize) {
  switch (itemsize) {
    case 1: return copyRows<uint8_t>;
    case 2: return copyRows<uint16_t>;
    case 4: return copyRows<uint32_t>;
    case 8: return copyRows<uint64_t>;
    default: return copyRows<Words>;
  }
}

// Reads the flipped dimensions from their ends on, with negative steps.
Tensor flip(const Tensor& self, std::span<const int64_t> dims) {
  checkCpuOrMeta(self);
  const uint64_t flipped = dims.empty() ? 0 : shape::dimensionMask(dims, self.dim());
  const Tensor result =
      shape::allocateStrided(self.sizes(), shape::denseStrides(self), self.scalar_type(), self.device());
  if (result.is_meta() || result.numel() == 0) return result;
  const auto itemsize = static_cast<int64_t>(self.itemsize());
  DimVector steps = toDimVector(self.strides());
  char* start = static_cast<char*>(self.data_ptr());
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i] *= itemsize;
    if ((flipped >> i & 1) == 0) continue;
    start += (self.sizes()[i] - 1) * steps[i];
    steps[i] = -steps[i];
  }
  StridedLoop nest(result.sizes());
  nest.add(result.data_ptr(), result.sizes(), result.strides(), result.itemsize());
  nest.addBytes(start, steps);
  nest.runParallel(result.numel(), rowsFor(self.itemsize()));
  return result;
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) { m.impl("flip", BOXCAR_FN(flip)); }

}  // namespace boxcar::cpu
