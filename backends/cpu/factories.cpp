#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/native/factories.h>

#include <cstdint>
#include <cstring>

namespace boxcar::cpu {
namespace {

void zero(void* memory, size_t bytes) {
  auto* const begin = static_cast<char*>(memory);
  parallelFor(0, static_cast<int64_t>(bytes), 4 * kQuickGrain,
              [begin](int64_t from, int64_t to) { std::memset(begin + from, 0, static_cast<size_t>(to - from)); });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, zeroBytes, cpu::zero)

}  // namespace boxcar::native
