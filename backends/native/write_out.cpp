#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/write_out.h>

#include <algorithm>
#include <span>

namespace boxcar::native {
namespace {

Tensor& write(Tensor& out, const Tensor& result) {
  copyElements(out, result);
  return out;
}

}  // namespace

Device checkSameDevice(TensorPointers tensors) {
  const Tensor& first = **tensors.begin();
  for (const Tensor* tensor : tensors) {
    checkDense(*tensor);
    meta::checkSameDevice(first.device(), tensor->device());
  }
  return first.device();
}

void checkWrittenInPlace(const Tensor& self, TensorPointers inputs) {
  checkDense(self);
  checkNoInternalOverlap(self);
  for (const Tensor* input : inputs) {
    checkSameDevice({&self, input});
    checkNoOverlap(self, *input);
  }
}

void writeAll(std::initializer_list<Written> written, TensorPointers inputs, Overlap overlap) {
  resizeOutputs(meta::checkWritten(std::span(written.begin(), written.size()), inputs, overlap));
  for (const Written& one : written) write(one.out, one.result);
}

Tensor& writeSameType(Tensor& out, const Tensor& result, TensorPointers inputs, Overlap overlap) {
  prepare({meta::outputOf(out, result, meta::OutputType::kExact)}, inputs, overlap);
  return write(out, result);
}

Tensor& writeResult(Tensor& out, const Tensor& result) {
  prepare({meta::outputOf(out, result, meta::OutputType::kCastable)}, {}, Overlap::kAllowed);
  return write(out, result);
}

std::tuple<Tensor&, Tensor&> writeSameTypes(Tensor& first, Tensor& second, const std::tuple<Tensor, Tensor>& results,
                                            TensorPointers inputs, Overlap overlap) {
  writeAll({{first, std::get<0>(results)}, {second, std::get<1>(results)}}, inputs, overlap);
  return {first, second};
}

void prepare(std::initializer_list<meta::Output> outputs, TensorPointers inputs, Overlap overlap) {
  for (const meta::Output& output : outputs) checkDense(output.tensor);
  const std::span<const meta::Output> all(outputs.begin(), outputs.size());
  meta::checkOutputs(all, inputs, overlap);
  resizeOutputs(all);
}

bool sharesStorage(const Tensor& out, TensorPointers inputs) {
  return std::ranges::any_of(inputs, [&](const Tensor* input) { return input->storage() == out.storage(); });
}

}  // namespace boxcar::native
