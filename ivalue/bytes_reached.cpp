#include <boxcar/ivalue/bytes_reached.h>

#include <algorithm>

namespace boxcar {

std::optional<size_t> bytesReached(std::span<const int64_t> sizes, std::span<const int64_t> strides, size_t itemsize) {
  if (std::ranges::find(sizes, 0) != sizes.end()) return 0;
  int64_t elements = 1;
  int64_t reached = 1;
  bool overflow = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t step = 0;
    overflow |= __builtin_mul_overflow(sizes[i] - 1, strides[i], &step) ||
                __builtin_add_overflow(reached, step, &reached) ||
                __builtin_mul_overflow(elements, sizes[i], &elements);
  }
  overflow |= __builtin_mul_overflow(reached, static_cast<int64_t>(itemsize), &reached);
  if (overflow) return std::nullopt;
  return static_cast<size_t>(reached);
}

}  // namespace boxcar
