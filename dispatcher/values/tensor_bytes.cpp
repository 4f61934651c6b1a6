#include <boxcar/dispatcher/call/hidden_calls.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/values/tensor_bytes.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ivalue/stack.h>
#include <boxcar/ivalue/storage_without_memory.h>
#include <boxcar/ivalue/zero_tensor.h>

#include <algorithm>
#include <cstring>

namespace boxcar {
namespace {

// Calls body(offset) for each element, in the order of the dimensions, with its offset from the first element, in
// elements.
template <class Body>
void forEachElement(const Tensor& tensor, Body&& body) {
  if (tensor.numel() == 0) return;
  const std::span<const int64_t> sizes = tensor.sizes();
  const std::span<const int64_t> strides = tensor.strides();
  std::vector<int64_t> index(sizes.size(), 0);
  int64_t offset = 0;
  for (;;) {
    body(offset);
    size_t dim = sizes.size();
    for (; dim > 0; --dim) {
      offset += strides[dim - 1];
      if (++index[dim - 1] < sizes[dim - 1]) break;
      offset -= strides[dim - 1] * sizes[dim - 1];
      index[dim - 1] = 0;
    }
    if (dim == 0) return;
  }
}

}  // namespace

bool hasBytes(const Tensor& tensor) noexcept {
  return tensor.defined() && !tensor.is_meta() && tensor.layout() == Layout::Strided &&
         !tensor.key_set().has(DispatchKey::Fake) && !isZeroTensor(tensor);
}

void copyHidden(const Tensor& to, const Tensor& from) {
  const HiddenCalls hidden;
  Stack stack;
  push(stack, to, from, false);
  Dispatcher::singleton().findSchemaOrThrow("aten::copy_", "").callBoxed(stack);
}

Tensor withOtherBitHidden(const Tensor& tensor, const char* op) {
  const HiddenCalls hidden;
  Stack stack;
  push(stack, tensor);
  Dispatcher::singleton().findSchemaOrThrow(op, "").callBoxed(stack);
  Tensor view = pop(stack).toTensor();
  view.unsafeGetTensorImpl()->clear_base();
  return view;
}

Tensor onCpu(const Tensor& tensor) {
  if (tensor.is_cpu()) return tensor;
  const bool in_one_row = tensor.is_contiguous();
  const Tensor source = in_one_row ? tensor : bytesOfStorage(tensor.storage());
  const HiddenCalls hidden;
  Tensor target = Tensor::allocate(source.sizes(), source.scalar_type());
  copyHidden(target, source);
  if (in_one_row) return target;
  return Tensor(makeIntrusive<TensorImpl>(target.storage(), tensor.scalar_type(), tensor.sizes(), tensor.strides(),
                                          tensor.storage_offset()));
}

Tensor bytesOfStorage(const Storage& storage) {
  const int64_t sizes[] = {static_cast<int64_t>(storage->nbytes())};
  const int64_t strides[] = {1};
  return Tensor(makeIntrusive<TensorImpl>(storage, ScalarType::Byte, sizes, strides, 0));
}

ElementBytes::ElementBytes(const Tensor& tensor) {
  if (isZeroTensor(tensor) && !lacksElements(tensor)) {
    gathered_.resize(tensor.nbytes());
    bytes_ = gathered_;
    return;
  }
  if (!hasBytes(tensor) || tensor.numel() == 0) return;
  tensor_ = onCpu(resolved(tensor));
  const auto* data = static_cast<const std::byte*>(tensor_.data_ptr());
  if (tensor_.is_contiguous()) {
    bytes_ = {data, tensor_.nbytes()};
    return;
  }
  const size_t size = tensor_.itemsize();
  gathered_.resize(tensor_.nbytes());
  std::byte* next = gathered_.data();
  forEachElement(tensor_, [&](int64_t offset) {
    std::memcpy(next, data + offset * static_cast<int64_t>(size), size);
    next += size;
  });
  bytes_ = gathered_;
}

std::vector<int64_t> elementOffsets(const Tensor& tensor) {
  std::vector<int64_t> offsets;
  offsets.reserve(static_cast<size_t>(tensor.numel()));
  const auto size = static_cast<int64_t>(tensor.itemsize());
  forEachElement(tensor, [&](int64_t offset) { offsets.push_back((tensor.storage_offset() + offset) * size); });
  return offsets;
}

bool sameBits(const Tensor& a, const Tensor& b) {
  if (a.defined() != b.defined() || a.scalar_type() != b.scalar_type()) return false;
  if (!std::ranges::equal(a.sizes(), b.sizes())) return false;
  if (!hasBytes(a) || !hasBytes(b)) return true;
  const ElementBytes of_a(a);
  const ElementBytes of_b(b);
  return a.numel() == 0 || std::memcmp(of_a.bytes().data(), of_b.bytes().data(), of_a.bytes().size()) == 0;
}

}  // namespace boxcar
