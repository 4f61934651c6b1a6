#include <boxcar/backends/cpu/conversions.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/native/copy.h>

#include <cstring>

namespace boxcar::cpu {
namespace {

void copy(const Tensor& target, const Tensor& source, bool) {
  const ScalarType to = target.scalar_type();
  const ScalarType from = source.scalar_type();
  if (to == from && target.is_contiguous() && source.is_contiguous() && target.numel() == source.numel()) {
    auto* const bytes = static_cast<char*>(target.data_ptr());
    const auto* const read = static_cast<const char*>(source.data_ptr());
    parallelFor(0, static_cast<int64_t>(target.nbytes()), 4 * kQuickGrain, [=](int64_t begin, int64_t end) {
      std::memcpy(bytes + begin, read + begin, static_cast<size_t>(end - begin));
    });
    return;
  }
  StridedLoop loop(target.sizes());
  loop.add(target.data_ptr(), target.sizes(), target.strides(), target.itemsize());
  loop.add(source.data_ptr(), source.sizes(), source.strides(), source.itemsize());
  if (to == from) {
    loop.copyParallel(conversionLoop(to, from));
  } else {
    loop.runParallel(conversionLoop(to, from), nullptr, kQuickGrain / 2);
  }
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, copyOnDevice, cpu::copy)

}  // namespace boxcar::native
