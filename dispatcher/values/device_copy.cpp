#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/values/device_copy.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/stack.h>
#include <boxcar/ivalue/value_tensors.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace boxcar {
namespace {

// The widest element: an address that is a multiple of it is aligned for every dtype.
constexpr uint64_t kAlignment = 16;

// Returns a tensor over the same elements that does not require grad.
Tensor plain(const Tensor& tensor) {
  return Tensor(makeIntrusive<TensorImpl>(tensor.storage(), tensor.scalar_type(), tensor.sizes(), tensor.strides(),
                                          tensor.storage_offset()));
}

void callCopy(const Tensor& to, const Tensor& from) {
  Stack stack;
  push(stack, to, from, false);
  Dispatcher::singleton().findSchemaOrThrow("aten::copy_", "").callBoxed(stack);
}

// Whether the strides show directly that no two elements overlap.
bool isInjective(const Tensor& tensor) {
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (tensor.size(dim) > 1) dims.emplace_back(tensor.stride(dim), tensor.size(dim));
  }
  std::ranges::sort(dims);
  int64_t reached = 1;
  for (const auto& [stride, size] : dims) {
    if (stride < reached) return false;
    reached += stride * (size - 1);
  }
  return true;
}

bool holdsTensors(const IValue& value) {
  bool found = false;
  visitTensors(
      value, [&](const Tensor&) { found = true; }, 64);
  return found;
}

}  // namespace

void copyElements(const Tensor& to, const Tensor& from) {
  if (to.numel() == 0) return;
  if (reachedBytes(to).count == to.nbytes()) {
    callCopy(flatElements(to.storage(), reachedBytes(to), to.scalar_type()),
             flatElements(from.storage(), reachedBytes(from), from.scalar_type()));
  } else {
    callCopy(plain(to), plain(from));
  }
}

void DeviceCopier::note(const Tensor& tensor) {
  if (!tensor.defined() || tensor.device() == device_) return;
  ByteRange range = reachedBytes(tensor);
  range.count += range.first % kAlignment;
  range.first -= range.first % kAlignment;
  const auto [entry, is_new] = parts_.try_emplace(tensor.storage().get());
  Part& part = entry->second;
  if (is_new) {
    part = {tensor.storage(), range, tensor.scalar_type(), tensor, {}};
  } else if (!part.only.is_same(tensor)) {
    part.only = Tensor();
    part.range = span(part.range, range);
    // Copy bytes if the storage holds elements of several types.
    if (part.dtype != tensor.scalar_type()) part.dtype = ScalarType::Byte;
  }
}

void DeviceCopier::copyPart(Part& part) {
  part.copy = StorageImpl::allocate(part.range.count, device_);
  if (part.range.count == 0) return;
  if (part.only.defined() && isInjective(part.only)) {
    copyElements(copyOf(part, part.only), part.only);
    copied_bytes_ += part.only.nbytes();
  } else {
    callCopy(flatElements(part.copy, {0, part.range.count}, part.dtype),
             flatElements(part.original, part.range, part.dtype));
    copied_bytes_ += part.range.count;
  }
}

Tensor DeviceCopier::copyOf(const Part& part, const Tensor& tensor) const {
  // A tensor without elements reaches no bytes, wherever it begins.
  const auto first = static_cast<int64_t>(part.range.first / tensor.itemsize());
  const int64_t offset = tensor.numel() == 0 ? 0 : tensor.storage_offset() - first;
  return Tensor(makeIntrusive<TensorImpl>(part.copy, tensor.scalar_type(), tensor.sizes(), tensor.strides(), offset));
}

Tensor DeviceCopier::copy(const Tensor& tensor) {
  if (!tensor.defined() || tensor.device() == device_) return tensor;
  const auto known = tensors_.find(tensor.unsafeGetTensorImpl());
  if (known != tensors_.end()) return known->second.second;
  Part& part = parts_.at(tensor.storage().get());
  if (!part.copy) copyPart(part);
  const Tensor copy = copyOf(part, tensor);
  copy.unsafeGetTensorImpl()->set_wrapped_number(tensor.unsafeGetTensorImpl()->is_wrapped_number());
  tensors_.emplace(tensor.unsafeGetTensorImpl(), std::pair(tensor, copy));
  return copy;
}

IValue DeviceCopier::copy(const IValue& value) {
  return replaceTensors(value, [this](const Tensor& tensor) { return copy(tensor); });
}

IValue replaceTensors(const IValue& value, const std::function<Tensor(const Tensor&)>& replace, int depth) {
  if (value.isTensor()) return value.toTensor().defined() ? IValue(replace(value.toTensor())) : value;
  if (!holdsTensors(value)) return value;
  BOXCAR_CHECK(depth > 0, "tensors are nested too deep in lists for another device");
  const auto replaced = [&](const IValue& element) { return replaceTensors(element, replace, depth - 1); };
  if (value.isTensorList()) {
    const List<Tensor> copies;
    for (const Tensor tensor : value.toTensorList()) copies.push_back(tensor.defined() ? replace(tensor) : tensor);
    return copies;
  }
  if (value.isGenericList()) {
    const GenericList copies;
    for (const IValue element : value.toList()) copies.push_back(replaced(element));
    return copies;
  }
  if (value.isGenericDict()) {
    const GenericDict original = value.toGenericDict();
    const GenericDict copies;
    for (size_t i = 0; i < original.size(); ++i) {
      const auto [key, element] = original.entryAt(i);
      copies.insert_or_assign(key, replaced(element));
    }
    return copies;
  }
  std::vector<IValue> elements;
  const Tuple tuple = value.toTuple();
  for (const IValue& element : tuple.elements()) elements.push_back(replaced(element));
  return Tuple(std::move(elements));
}

}  // namespace boxcar
