#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/native/cat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace boxcar::cpu {
namespace {

// Copies the bytes of one outer index from each tensor in turn.
bool copyRowsOfEach(const Tensor& out, TensorList tensors, const meta::Joined& joined) {
  size_t inner = out.itemsize();
  for (size_t i = joined.dim + 1; i < joined.sizes.size(); ++i) inner *= static_cast<size_t>(joined.sizes[i]);
  const size_t row = inner * static_cast<size_t>(joined.sizes[joined.dim]);
  const auto rows = static_cast<int64_t>(out.nbytes() / row);
  const auto elements = static_cast<int64_t>(row / out.itemsize());
  // For a single row of long parts, it is better if threads share the work within each part.
  if (rows == 1 && elements >= kParallelGrain) return false;
  struct Part {
    const std::byte* from;
    size_t size;  // of a row
  };
  std::vector<Part> parts;
  parts.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    if (tensor.numel() == 0) continue;
    parts.push_back(
        {static_cast<const std::byte*>(tensor.data_ptr()), inner * static_cast<size_t>(tensor.sizes()[joined.dim])});
  }
  auto* const to = static_cast<std::byte*>(out.data_ptr());
  parallelFor(0, rows, std::max<int64_t>(1, kQuickGrain / elements), [&](int64_t begin, int64_t end) {
    std::byte* next = to + static_cast<size_t>(begin) * row;
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      for (const Part& part : parts) {
        std::memcpy(next, part.from + i * part.size, part.size);
        next += part.size;
      }
    }
  });
  return true;
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, joinRows, cpu::copyRowsOfEach)

}  // namespace boxcar::native
