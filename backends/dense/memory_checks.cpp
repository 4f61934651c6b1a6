#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/shape/defined.h>
#include <boxcar/backends/shape/layout.h>
#include <boxcar/backends/shape/output.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <functional>

namespace boxcar::dense {
namespace {

// The first byte behind the last element that [tensor], which is not empty, reaches.
const std::byte* endOf(const Tensor& tensor) {
  int64_t last = 0;
  for (size_t i = 0; i < tensor.sizes().size(); ++i) last += (tensor.sizes()[i] - 1) * tensor.strides()[i];
  return static_cast<const std::byte*>(tensor.data_ptr()) + (last + 1) * static_cast<int64_t>(tensor.itemsize());
}

}  // namespace

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

void checkNoInternalOverlap(const Tensor& tensor) {
  if (tensor.is_contiguous()) return;
  for (size_t i = 0; i < tensor.sizes().size(); ++i) {
    BOXCAR_CHECK(tensor.strides()[i] != 0 || tensor.sizes()[i] <= 1,
                 "unsupported operation: more than one element of the written-to tensor refers to a single memory "
                 "location. Please clone() the tensor before performing the operation.");
  }
}

void checkNoPartialOverlap(const Tensor& output, const Tensor& input) {
  if (output.is_same(input) || output.storage() != input.storage()) return;
  if (output.numel() == 0 || input.numel() == 0 || output.is_meta()) return;
  if (output.data_ptr() == input.data_ptr() && std::ranges::equal(output.sizes(), input.sizes()) &&
      std::ranges::equal(output.strides(), input.strides())) {
    return;
  }
  // Two views with gaps may lie in each other's without sharing an element; that is not looked into, as in PyTorch.
  if (!shape::isDense(output.sizes(), output.strides()) || !shape::isDense(input.sizes(), input.strides())) return;
  const std::less<const void*> before;
  BOXCAR_CHECK(!before(output.data_ptr(), endOf(input)) || !before(input.data_ptr(), endOf(output)),
               "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
               "memory location. Please clone() the tensor before performing the operation.");
}

void resizeOutput(const Tensor& out, std::span<const int64_t> sizes) {
  DimVector strides(sizes.size(), boost::container::default_init);
  contiguousStrides(sizes, strides);
  const size_t bytes = static_cast<size_t>(out.storage_offset() + numelOf(sizes)) * out.itemsize();
  if (bytes > out.storage()->nbytes()) out.storage()->resize(bytes);
  out.unsafeGetTensorImpl()->setShape(sizes, strides, out.storage_offset());
}

}  // namespace boxcar::dense
