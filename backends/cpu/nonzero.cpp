#include <boxcar/backends/cpu/indexed_loop.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/functors/words.h>
#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/native/nonzero.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>

namespace boxcar::cpu {
namespace {

std::span<const bool> boolsOf(const Tensor& contiguous) {
  return {static_cast<const bool*>(contiguous.data_ptr()), static_cast<size_t>(contiguous.numel())};
}

// Calls body(i) for each true element of [mask], in order.
template <class Body>
void forEachTrue(std::span<const bool> mask, Body&& body) {
  size_t i = 0;
  // Skips eight at a time if none is true.
  for (; i + 8 <= mask.size(); i += 8) {
    uint64_t eight;
    std::memcpy(&eight, mask.data() + i, sizeof(eight));
    if (eight == 0) continue;
    for (size_t k = i; k < i + 8; ++k) {
      if (mask[k]) body(k);
    }
  }
  for (; i < mask.size(); ++i) {
    if (mask[i]) body(i);
  }
}

Tensor writeIndices(const Tensor& mask, std::span<const int64_t> tensor_sizes) {
  const std::span<const bool> elements = boolsOf(mask);
  const size_t rank = tensor_sizes.size();
  const int64_t count = std::ranges::count(elements, true);
  const int64_t sizes[] = {count, static_cast<int64_t>(rank)};
  const int64_t strides[] = {1, std::max<int64_t>(count, 1)};
  Tensor result = meta::allocateStrided(sizes, strides, ScalarType::Long, mask.device());
  auto* out = static_cast<int64_t*>(result.data_ptr());
  if (rank == 1) {
    forEachTrue(elements, [&](size_t i) { *out++ = static_cast<int64_t>(i); });
    return result;
  }
  forEachTrue(elements, [&](size_t i) {
    auto rest = static_cast<int64_t>(i);
    for (size_t dim = rank; dim-- > 0;) {
      const int64_t size = tensor_sizes[dim];
      out[static_cast<int64_t>(dim) * count] = rest % size;
      rest /= size;
    }
    ++out;
  });
  return result;
}

Tensor copyMasked(const Tensor& self, const Tensor& mask) {
  const std::span<const bool> bools = boolsOf(mask);
  const int64_t count[] = {std::ranges::count(bools, true)};
  Tensor out = Tensor::allocate(count, self.scalar_type());
  functors::visitWord(self.itemsize(), [&]<class Word>(std::type_identity<Word>) {
    const auto* from = static_cast<const Word*>(self.data_ptr());
    auto* to = static_cast<Word*>(out.data_ptr());
    forEachTrue(bools, [&](size_t i) { *to++ = from[i]; });
  });
  return out;
}

void fillMasked(const Tensor& self, const Tensor& mask, const Tensor& source) {
  const std::span<const bool> bools = boolsOf(mask);
  const int64_t count = std::ranges::count(bools, true);
  BOXCAR_CHECK(source.numel() >= count,
               "masked_scatter: expected source to have as many elements as the mask has ones, {}, but it has {}",
               count, source.numel());
  functors::visitWord(self.itemsize(), [&]<class Word>(std::type_identity<Word>) {
    const auto* from = static_cast<const Word*>(source.data_ptr());
    auto* to = static_cast<Word*>(self.data_ptr());
    forEachTrue(bools, [&](size_t i) { to[i] = *from++; });
  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, indicesOfTrue, cpu::writeIndices)
BOXCAR_REGISTER_STUB(CPU, selectMasked, cpu::copyMasked)
BOXCAR_REGISTER_STUB(CPU, scatterMasked, cpu::fillMasked)

}  // namespace boxcar::native
