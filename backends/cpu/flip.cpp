#include <boxcar/backends/cpu/strided_loop.h>
#include <boxcar/backends/functors/words.h>
#include <boxcar/backends/native/flip.h>

#include <cstdint>
#include <span>

namespace boxcar::cpu {
namespace {

template <class Word>
void copyRows(char* const* data, const int64_t* steps, int64_t n0, int64_t n1) {
  for (int64_t j = 0; j < n1; ++j) {
    char* const to = data[0] + j * steps[kMaxOperands];
    const char* const from = data[1] + j * steps[kMaxOperands + 1];
    if (steps[0] == sizeof(Word) && steps[1] == -static_cast<int64_t>(sizeof(Word))) {
      // Reads backwards, in a separate loop that the compiler vectorises.
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

auto rowsFor(size_t itemsize) {
  return functors::visitWord(itemsize, []<class Word>(std::type_identity<Word>) { return copyRows<Word>; });
}

void copy(const Tensor& result, char* start, std::span<const int64_t> steps) {
  StridedLoop nest(result.sizes());
  nest.add(result.data_ptr(), result.sizes(), result.strides(), result.itemsize());
  nest.addBytes(start, steps);
  nest.runParallel(result.numel(), rowsFor(result.itemsize()));
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, copyInSteps, cpu::copy)

}  // namespace boxcar::native
