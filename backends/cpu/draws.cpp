#include <boxcar/backends/cpu/conversions.h>
#include <boxcar/backends/cpu/draws.h>
#include <boxcar/backends/cpu/strided_loop.h>
#include <boxcar/backends/native/recorded_work.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cstddef>

namespace boxcar::cpu {

CpuGeneratorImpl& generatorOf(const std::optional<Generator>& given) {
  const Generator& generator = given.has_value() && given->defined() ? *given : defaultCpuGenerator();
  auto* impl = dynamic_cast<CpuGeneratorImpl*>(generator.unsafeGetGeneratorImpl());
  BOXCAR_CHECK(impl != nullptr, "Expected a 'cpu' device type for generator but found '{}'", generator.device());
  native::refuseWhereRecorded("draws random numbers, which would be the same in every replay");
  return *impl;
}

void fillBlocksInOrder(const Tensor& self, ScalarType drawn, CallableRef<void(void* to, int64_t n)> draw) {
  constexpr int64_t kBlock = 256;
  const auto size = static_cast<int64_t>(elementSize(drawn));
  const Loop convert = conversionLoop(self.scalar_type(), drawn);
  StridedLoop nest(self.sizes());
  nest.add(self.data_ptr(), self.sizes(), self.strides(), self.itemsize());
  nest.runInOrder(self.numel(), [&](char* const* data, const int64_t* steps, int64_t n0, int64_t n1) {
    alignas(16) std::byte buffer[kBlock * sizeof(double)];
    for (int64_t j = 0; j < n1; ++j) {
      char* to = data[0] + j * steps[kMaxOperands];
      for (int64_t i = 0; i < n0; i += kBlock, to += kBlock * steps[0]) {
        const int64_t n = std::min(kBlock, n0 - i);
        draw(buffer, n);
        convertRow(convert, to, steps[0], buffer, size, n);
      }
    }
  });
}

}  // namespace boxcar::cpu
