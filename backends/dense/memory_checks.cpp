#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/shape/defined.h>
#include <boxcar/backends/shape/layout.h>
#include <boxcar/backends/shape/overlap.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>

namespace boxcar::dense {

void checkDense(const Tensor& tensor) {
  const DeviceType type = tensor.device().type();
  if (tensor.defined() && (type == DeviceType::CPU || type == DeviceType::Meta || type == DeviceType::CUDA)) [[likely]]
    return;
  shape::checkDefined(tensor);
  shape::failOnTwoDevices(tensor.device(), DeviceType::CPU);
}

Device commonDevice(std::initializer_list<const Tensor*> tensors) {
  if (std::ranges::all_of(tensors, [](const Tensor* tensor) { return tensor->is_cpu() && tensor->defined(); }))
      [[likely]]
    return Device(DeviceType::CPU);
  const Tensor* first = nullptr;
  for (const Tensor* tensor : tensors) {
    checkDense(*tensor);
    if (tensor->is_cpu() && tensor->dim() == 0) continue;
    if (first == nullptr) first = tensor;
    shape::checkSameDevice(first->device(), tensor->device());
  }
  return first != nullptr ? first->device() : Device(DeviceType::CPU);
}

bool checkNoPartialOverlap(const Tensor& output, const Tensor& input) {
  if (output.is_same(input) || output.storage() != input.storage()) return false;
  if (shape::sharedMemory(shape::regionOf(output), shape::regionOf(input)) != shape::Shared::kSome) return false;
  const auto has_gaps = [](const Tensor& tensor) { return !shape::isDense(tensor.sizes(), tensor.strides()); };
  if (has_gaps(output) || has_gaps(input)) return true;
  BOXCAR_FAIL("{}", shape::kSharesWithInput);
}

void resizeOutput(const shape::Output& output) { resizeOutputs({&output, 1}); }

void resizeOutputs(std::span<const shape::Output> outputs) {
  shape::growStorages(outputs);
  for (const shape::Output& output : outputs) {
    if (!output.resizes()) continue;
    output.tensor.unsafeGetTensorImpl()->setShape(output.sizes, output.strides, output.tensor.storage_offset());
  }
}

}  // namespace boxcar::dense
