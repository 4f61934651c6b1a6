#include <boxcar/dispatcher/fallbacks/trace_outside.h>
#include <boxcar/dispatcher/local_dispatch_key_set.h>
#include <fmt/format.h>

#include <array>
#include <cstring>

namespace boxcar::detail {

void callUnseen(const OperatorHandle& op, Stack& stack) {
  const ExcludeDispatchKeyGuard unseen(
      DispatchKeySet({DispatchKey::PreDispatch, DispatchKey::Python, DispatchKey::Tracer}) | autograd_dispatch_keyset);
  op.callBoxed(stack);
}

Tensor flatTensor(const Storage& storage, ScalarType dtype) {
  const std::array sizes = {static_cast<int64_t>(storage->nbytes() / elementSize(dtype))};
  const std::array strides = {int64_t{1}};
  return Tensor(makeIntrusive<TensorImpl>(storage, dtype, sizes, strides, 0));
}

Tensor copyOnHost(const Tensor& tensor) {
  Tensor copy = Tensor::allocate(tensor.sizes(), tensor.scalar_type());
  if (tensor.numel() == 0) return copy;
  if (!tensor.is_cpu()) {
    Stack stack{copy, tensor, false};
    callUnseen(Dispatcher::singleton().findSchemaOrThrow("aten::copy_", ""), stack);
    return copy;
  }
  if (tensor.scalar_type() == ScalarType::Bool) {
    // Memory that nobody has set may hold other bytes than 0 and 1, which files must not.
    const auto* from = static_cast<const unsigned char*>(tensor.data_ptr());
    auto* to = static_cast<unsigned char*>(copy.data_ptr());
    for (size_t i = 0; i < tensor.nbytes(); ++i) to[i] = from[i] != 0 ? 1 : 0;
  } else {
    std::memcpy(copy.data_ptr(), tensor.data_ptr(), tensor.nbytes());
  }
  return copy;
}

Outside lookAt(const Tensor& tensor, bool with_elements) {
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

void ContentHash::add(const void* bytes, size_t count) {
  const auto* byte = static_cast<const unsigned char*>(bytes);
  for (size_t i = 0; i < count; ++i) hash_ = (hash_ ^ byte[i]) * 0x100000001b3;
}

void ContentHash::add(const std::string& name, const Tensor& tensor) {
  const std::string header =
      fmt::format("{} {} [{}];", name, dtypeName(tensor.scalar_type()), fmt::join(tensor.sizes(), ","));
  add(header.data(), header.size());
  if (tensor.numel() > 0) add(tensor.data_ptr(), tensor.nbytes());
}

std::string ContentHash::text() const { return fmt::format("{:016x}", hash_); }

}  // namespace boxcar::detail
