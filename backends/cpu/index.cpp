#include <boxcar/backends/cpu/loops.h>
#include <boxcar/backends/cpu/strided_loop.h>
#include <boxcar/backends/native/index.h>
#include <boxcar/ivalue/error.h>

#include <cstddef>
#include <cstdint>

namespace boxcar::cpu {
namespace {

void addAll(const Tensor& offsets, const Tensor& index, const native::IndexedDimension& dimension) {
  const auto [dim, size, step] = dimension;
  StridedLoop nest(offsets.sizes());
  nest.add(offsets.data_ptr(), offsets.sizes(), offsets.strides(), offsets.itemsize());
  nest.add(index.data_ptr(), index.sizes(), index.strides(), index.itemsize());
  nest.runInOrder(offsets.numel(), [&](char* const* data, const int64_t* steps, int64_t n0, int64_t n1) {
    // The output is also an input.
    char* operands[] = {data[0], data[0], data[1]};
    int64_t all_steps[2 * kMaxOperands] = {steps[0], steps[0], steps[1]};
    all_steps[kMaxOperands] = all_steps[kMaxOperands + 1] = steps[kMaxOperands];
    all_steps[kMaxOperands + 2] = steps[kMaxOperands + 1];
    elementwise<int64_t, int64_t, int64_t>(
        operands, all_steps, n0, n1, [&, dim = dim, size = size, step = step](int64_t offset, int64_t place) {
          BOXCAR_CHECK_INDEX(place >= -size && place < size, "index {} is out of bounds for dimension {} with size {}",
                             place, dim, size);
          return offset + (place < 0 ? place + size : place) * step;
        });
  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, addOffsets, cpu::addAll)

}  // namespace boxcar::native
