#include <boxcar/backends/composite/write_structured.h>
#include <boxcar/backends/shape/output.h>
#include <boxcar/ops.h>

#include <algorithm>

namespace boxcar::composite {

void checkStructured(const Tensor& out, const Tensor& result) {
  shape::checkOutputType(out, result.scalar_type());
  shape::checkOutputDevice(out, result.device());
}

Tensor& writeStructured(Tensor& out, const Tensor& result) {
  checkStructured(out, result);
  if (!std::ranges::equal(out.sizes(), result.sizes())) {
    boxcar::empty_out(out, result.sizes());
    if (!result.is_contiguous()) boxcar::as_strided_(out, result.sizes(), result.strides(), out.storage_offset());
  }
  return boxcar::copy_(out, result);
}

}  // namespace boxcar::composite
