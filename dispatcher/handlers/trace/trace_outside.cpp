#include <boxcar/dispatcher/handlers/trace/trace_outside.h>
#include <boxcar/dispatcher/values/tensor_bytes.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ivalue/storage_without_memory.h>
#include <fmt/format.h>

#include <array>
#include <cstring>

namespace boxcar::detail {

Tensor flatTensor(const Storage& storage, ScalarType dtype) {
  const std::array sizes = {static_cast<int64_t>(storage->nbytes() / elementSize(dtype))};
  const std::array strides = {int64_t{1}};
  return Tensor(makeIntrusive<TensorImpl>(storage, dtype, sizes, strides, 0));
}

Tensor copyOnHost(const Tensor& tensor) {
  Tensor copy = Tensor::allocate(tensor.sizes(), tensor.scalar_type());
  if (tensor.numel() == 0) return copy;
  BOXCAR_CHECK(
      !tensor.key_set().has(DispatchKey::Fake),
      "a trace cannot keep the elements of a fake tensor of sizes [{}], which has none; make it while the trace "
      "runs",
      fmt::join(tensor.sizes(), ", "));
  if (lacksMemory(*tensor.storage())) {  // of a zero tensor
    std::memset(copy.data_ptr(), 0, copy.nbytes());
    return copy;
  }
  if (!tensor.is_cpu()) {
    copyHidden(copy, tensor);
    return copy;
  }
  if (tensor.scalar_type() == ScalarType::Bool) {
    // Uninitialised memory may hold bytes other than 0 and 1, which files must not contain.
    const auto* from = static_cast<const unsigned char*>(tensor.data_ptr());
    auto* to = static_cast<unsigned char*>(copy.data_ptr());
    for (size_t i = 0; i < tensor.nbytes(); ++i) to[i] = from[i] != 0 ? 1 : 0;
  } else {
    std::memcpy(copy.data_ptr(), tensor.data_ptr(), tensor.nbytes());
  }
  return copy;
}

Outside lookAt(const Tensor& tensor, bool with_elements) {
  BOXCAR_CHECK(tensor.layout() == Layout::Strided,
               "a trace cannot show a tensor of layout torch.{} that was made before it began; call to_mkldnn() while "
               "the trace runs",
               layoutName(tensor.layout()));
  if (hasMathBits(tensor)) {
    Outside outside = lookAt(withoutMathBits(tensor), with_elements);
    outside.lazy = tensor;
    return outside;
  }
  Outside outside;
  outside.tensor = tensor;
  outside.sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  outside.strides.assign(tensor.strides().begin(), tensor.strides().end());
  outside.offset = tensor.storage_offset();
  const bool is_all = tensor.is_contiguous() && tensor.storage_offset() == 0 &&
                      (tensor.numel() == 0 || tensor.nbytes() == tensor.storage()->nbytes());
  outside.root = is_all ? tensor : flatTensor(tensor.storage(), tensor.scalar_type());
  if (with_elements && !tensor.is_meta()) outside.copy = copyOnHost(outside.root);
  return outside;
}

}  // namespace boxcar::detail
