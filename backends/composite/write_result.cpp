#include <boxcar/backends/composite/write_result.h>
#include <boxcar/backends/shape/output.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>

namespace boxcar::composite {

Tensor& writeResult(Tensor& out, const Tensor& result) {
  BOXCAR_CHECK(canCast(result.scalar_type(), out.scalar_type()),
               "result type {} can't be cast to the desired output type {}", result.scalar_type(), out.scalar_type());
  shape::checkOutputDevice(out, result.device());
  if (!std::ranges::equal(out.sizes(), result.sizes())) boxcar::empty_out(out, result.sizes());
  return boxcar::copy_(out, result);
}

}  // namespace boxcar::composite
