#include <boxcar/backends/meta/defined.h>
#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/meta/overlap.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>

namespace boxcar::native {

void checkDense(const Tensor& tensor) {
  const DeviceType type = tensor.device().type();
  if (tensor.defined() && (type == DeviceType::CPU || type == DeviceType::Meta || type == DeviceType::CUDA) &&
      tensor.layout() == Layout::Strided) [[likely]]
    return;
  meta::checkDefined(tensor);
  BOXCAR_CHECK(tensor.layout() == Layout::Strided,
               "a kernel of strided tensors was called with a tensor of layout torch.{}; call it with x.to_dense()",
               layoutName(tensor.layout()));
  meta::failOnTwoDevices(tensor.device(), DeviceType::CPU);
}

Device commonDevice(std::initializer_list<const Tensor*> tensors) {
  // Other layouts have another key.
  constexpr DispatchKeySet kStridedOnCpu(DispatchKey::CPU);
  if (std::ranges::all_of(tensors, [](const Tensor* tensor) { return tensor->key_set().has_all(kStridedOnCpu); }))
      [[likely]]
    return Device(DeviceType::CPU);
  const Tensor* first = nullptr;
  for (const Tensor* tensor : tensors) {
    checkDense(*tensor);
    if (tensor->is_cpu() && tensor->dim() == 0) continue;
    if (first == nullptr) first = tensor;
    meta::checkSameDevice(first->device(), tensor->device());
  }
  return first != nullptr ? first->device() : Device(DeviceType::CPU);
}

bool checkNoPartialOverlap(const Tensor& output, const Tensor& input) {
  if (output.is_same(input) || output.storage() != input.storage()) return false;
  if (meta::sharedMemory(meta::regionOf(output), meta::regionOf(input)) != meta::Shared::kSome) return false;
  const auto has_gaps = [](const Tensor& tensor) { return !meta::isDense(tensor.sizes(), tensor.strides()); };
  if (has_gaps(output) || has_gaps(input)) return true;
  BOXCAR_FAIL("{}", meta::kSharesWithInput);
}

void resizeOutput(const meta::Output& output) { resizeOutputs({&output, 1}); }

void resizeOutputs(std::span<const meta::Output> outputs) {
  meta::growStorages(outputs);
  for (const meta::Output& output : outputs) {
    if (!output.resizes()) continue;
    output.tensor.unsafeGetTensorImpl()->setShape(output.sizes, output.strides, output.tensor.storage_offset());
  }
}

}  // namespace boxcar::native
