#include <boxcar/backends/cpu/lines.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/functors/words.h>
#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/native/triangles.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace boxcar::cpu {
namespace {

using native::Triangle;

template <class Word>
void copyRow(char* out, int64_t out_step, const char* in, int64_t in_step, int64_t begin, int64_t end) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(Word));
  if (begin < end && out_step == kSize && in_step == kSize) {
    std::memcpy(out + begin * kSize, in + begin * kSize, static_cast<size_t>((end - begin) * kSize));
    return;
  }
  for (int64_t i = begin; i < end; ++i) std::memcpy(out + i * out_step, in + i * in_step, sizeof(Word));
}

template <class Word>
void zeroRow(char* out, int64_t out_step, int64_t begin, int64_t end) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(Word));
  if (begin < end && out_step == kSize) {
    std::memset(out + begin * kSize, 0, static_cast<size_t>((end - begin) * kSize));
    return;
  }
  for (int64_t i = begin; i < end; ++i) std::memset(out + i * out_step, 0, sizeof(Word));
}

// Writes to [out], which may be [self] itself; the row numbers are an operand of the loop.
template <class Word>
void writeWords(const Tensor& out, const Tensor& self, int64_t diagonal, Triangle triangle) {
  const auto last = static_cast<size_t>(self.dim() - 1);
  const int64_t rows = self.sizes()[last - 1];
  const int64_t columns = self.sizes()[last];
  const Tensor numbers = Tensor::allocate(std::initializer_list<int64_t>{rows, 1}, ScalarType::Long);
  std::iota(numbers.data_ptr<int64_t>(), numbers.data_ptr<int64_t>() + rows, 0);
  const Tensor row_of = meta::expandTo(numbers, self.sizes());
  const int64_t out_step = lineStep(out, last);
  const int64_t in_step = lineStep(self, last);
  // Diagonals outside the matrix are equivalent to those at its corners.
  const int64_t shift = std::clamp(diagonal, -rows, columns);
  const bool copies = !out.is_same(self);
  forEachLine(last, {&out, &self, &row_of}, [&](char* const* line) {
    const int64_t row = *reinterpret_cast<const int64_t*>(line[2]);
    const bool is_lower = triangle == Triangle::kLower;
    const int64_t border = std::clamp<int64_t>(row + shift + (is_lower ? 1 : 0), 0, columns);
    if (copies) copyRow<Word>(line[0], out_step, line[1], in_step, is_lower ? 0 : border, is_lower ? border : columns);
    zeroRow<Word>(line[0], out_step, is_lower ? border : 0, is_lower ? columns : border);
  });
}

void write(const Tensor& out, const Tensor& self, int64_t diagonal, Triangle triangle) {
  functors::visitWord(self.itemsize(),
                      [&]<class Word>(std::type_identity<Word>) { writeWords<Word>(out, self, diagonal, triangle); });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, writeTriangle, cpu::write)

}  // namespace boxcar::native
