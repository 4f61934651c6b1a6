#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/dense/write_structured.h>
#include <boxcar/backends/shape/output.h>

namespace boxcar::dense {

void checkStructuredOut(const Tensor& out, ScalarType dtype, Device device) {
  checkDense(out);
  shape::checkOutputDevice(out, device);
  shape::checkOutputType(out, dtype);
  checkNoInternalOverlap(out);
}

Tensor& writeStructured(Tensor& out, const Tensor& result) {
  checkStructuredOut(out, result.scalar_type(), result.device());
  if (!std::ranges::equal(out.sizes(), result.sizes())) {
    resizeOutput(out, result.sizes());
    out.unsafeGetTensorImpl()->setShape(result.sizes(), result.strides(), out.storage_offset());
  }
  copyElements(out, result);
  out.storage()->bumpVersion();
  return out;
}

bool sharesStorage(const Tensor& out, std::initializer_list<const Tensor*> inputs) {
  return std::ranges::any_of(inputs, [&](const Tensor* input) { return input->storage() == out.storage(); });
}

}  // namespace boxcar::dense
