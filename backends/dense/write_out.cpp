#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/dense/write_out.h>
#include <boxcar/backends/dense/write_structured.h>
#include <boxcar/backends/shape/output.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>

namespace boxcar::dense {
namespace {

void checkOut(const Tensor& out, const Tensor& result, TensorPointers inputs) {
  checkSameDevice({&result, &out});
  checkStructuredOut(out, result.scalar_type(), result.device());
  for (const Tensor* input : inputs) checkNoOverlap(out, *input);
}

}  // namespace

Device checkSameDevice(TensorPointers tensors) {
  const Tensor& first = **tensors.begin();
  for (const Tensor* tensor : tensors) {
    checkDense(*tensor);
    shape::checkSameDevice(first.device(), tensor->device());
  }
  return first.device();
}

void checkNoOverlap(const Tensor& written, const Tensor& input) {
  if (written.storage() != input.storage() || written.numel() == 0 || input.numel() == 0) return;
  const bool same = written.storage_offset() == input.storage_offset() &&
                    std::ranges::equal(written.sizes(), input.sizes()) &&
                    std::ranges::equal(written.strides(), input.strides());
  BOXCAR_CHECK(!same,
               "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
               "memory location. Please clone() the tensor before performing the operation.");
  checkNoPartialOverlap(written, input);
}

void checkWrittenInPlace(const Tensor& self, TensorPointers inputs) {
  checkDense(self);
  checkNoInternalOverlap(self);
  for (const Tensor* input : inputs) {
    checkSameDevice({&self, input});
    checkNoOverlap(self, *input);
  }
}

Tensor& writeSameType(Tensor& out, const Tensor& result, TensorPointers inputs) {
  checkOut(out, result, inputs);
  return writeStructured(out, result);
}

std::tuple<Tensor&, Tensor&> writeSameTypes(Tensor& first, Tensor& second, const std::tuple<Tensor, Tensor>& results,
                                            TensorPointers inputs) {
  checkOut(first, std::get<0>(results), inputs);
  checkOut(second, std::get<1>(results), inputs);
  checkNoOverlap(first, second);
  writeStructured(first, std::get<0>(results));
  writeStructured(second, std::get<1>(results));
  return {first, second};
}

}  // namespace boxcar::dense
