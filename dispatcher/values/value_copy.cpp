#include <boxcar/dispatcher/call/hidden_calls.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/values/tensor_bytes.h>
#include <boxcar/dispatcher/values/value_copy.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ivalue/storage_without_memory.h>

#include <bit>
#include <cstring>
#include <set>

namespace boxcar {
namespace {

bool sameNumber(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }

// Compares two values of the same tag that contain no other values.
bool sameBitsAlone(const IValue& a, const IValue& b) {
  switch (a.tag()) {
    case IValue::Tag::Double: return sameNumber(a.toDouble(), b.toDouble());
    case IValue::Tag::ComplexDouble:
      return sameNumber(a.toComplexDouble().real(), b.toComplexDouble().real()) &&
             sameNumber(a.toComplexDouble().imag(), b.toComplexDouble().imag());
    case IValue::Tag::Tensor: return sameBits(a.toTensor(), b.toTensor());
    case IValue::Tag::String: return a.toStringView() == b.toStringView();
    default: return a == b;
  }
}

// Copies a tensor whose elements only its kernels know.
Tensor copyUnstrided(const Tensor& tensor, bool to_meta) {
  if (to_meta) return Tensor::allocate(tensor.sizes(), tensor.scalar_type(), Device(DeviceType::Meta));
  const HiddenCalls hidden;
  Stack stack;
  push(stack, tensor.shallowCopy(), IValue());
  Dispatcher::singleton().findSchemaOrThrow("aten::clone", "").callBoxed(stack);
  const Tensor copy = stack.back().toTensor();
  copy.set_requires_grad(tensor.requires_grad());
  return copy;
}

}  // namespace

const void* containerAddress(const IValue& value) {
  switch (value.tag()) {
    case IValue::Tag::TensorList: return value.toTensorList().object().get();
    case IValue::Tag::GenericList: return value.toList().object().get();
    case IValue::Tag::GenericDict: return value.toGenericDict().object().get();
    case IValue::Tag::Tuple: return value.toTuple().object().get();
    default: return nullptr;
  }
}

Storage ValueCopier::copyStorage(const Storage& storage) {
  const auto known = storages_.find(storage.get());
  if (known != storages_.end()) return known->second.second;
  const Device device = target_ == Target::kMeta ? Device(DeviceType::Meta) : storage->device();
  const HiddenCalls hidden;
  const bool is_fake = lacksMemory(*storage) && !device.is_meta();
  Storage copy =
      is_fake ? storageWithoutMemory(storage->nbytes(), device) : StorageImpl::allocate(storage->nbytes(), device);
  if (is_fake) {
    // There is nothing to copy.
  } else if (device.type() == DeviceType::CPU) {
    if (storage->nbytes() > 0) std::memcpy(copy->data(), storage->data(), storage->nbytes());
  } else if (device.type() != DeviceType::Meta && storage->nbytes() > 0) {
    copyHidden(bytesOfStorage(copy), bytesOfStorage(storage));
  }
  storages_.emplace(storage.get(), std::pair(storage, copy));
  return copy;
}

Tensor ValueCopier::copy(const Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  const TensorImpl* const impl = tensor.unsafeGetTensorImpl();
  const auto known = tensors_.find(impl);
  if (known != tensors_.end()) return known->second.second;
  if (tensor.layout() != Layout::Strided) {
    const Tensor copy = copyUnstrided(tensor, target_ == Target::kMeta);
    tensors_.emplace(impl, std::pair(tensor, copy));
    return copy;
  }
  Tensor copy(makeIntrusive<TensorImpl>(copyStorage(tensor.storage()), tensor.scalar_type(), tensor.sizes(),
                                        tensor.strides(), tensor.storage_offset()));
  copy.unsafeGetTensorImpl()->set_wrapped_number(impl->is_wrapped_number());
  takeMathBits(copy, tensor);
  if (target_ == Target::kSameDevice) {
    copy.set_requires_grad(tensor.requires_grad());
    copy.unsafeGetTensorImpl()->copy_metadata(*impl);
    copy.unsafeGetTensorImpl()->set_key_set(impl->key_set());
  }
  tensors_.emplace(impl, std::pair(tensor, copy));
  return copy;
}

void ValueCopier::replace(const Tensor& original, const Tensor& copy) {
  tensors_.insert_or_assign(original.unsafeGetTensorImpl(), std::pair(original, copy));
}

IValue ValueCopier::copy(const IValue& value) {
  IValue copied = copyUnfilled(value);
  while (!unfilled_.empty()) {
    const auto [original, copy] = std::move(unfilled_.back());
    unfilled_.pop_back();
    fill(original, copy);
  }
  return copied;
}

IValue ValueCopier::copyUnfilled(const IValue& value) {
  if (value.isTensor()) return copy(value.toTensor());
  if (value.isDevice() && target_ == Target::kMeta) return Device(DeviceType::Meta);
  if (value.isIntList()) return value.toIntList().copy();
  if (value.isDoubleList()) return value.toDoubleList().copy();
  if (value.isBoolList()) return value.toBoolList().copy();
  if (value.isComplexDoubleList()) return value.toComplexDoubleList().copy();
  const void* const address = containerAddress(value);
  if (address == nullptr) return value;
  const auto known = containers_.find(address);
  if (known != containers_.end()) return known->second.second;
  if (value.isTuple()) return copyTuple(value);
  IValue copied = value.isTensorList()    ? IValue(List<Tensor>())
                  : value.isGenericList() ? IValue(GenericList())
                                          : GenericDict();
  unfilled_.emplace_back(value, copied);
  containers_.emplace(address, std::pair(value, copied));
  return copied;
}

IValue ValueCopier::copyTuple(const IValue& tuple) {
  const auto isCopied = [this](const IValue& value) { return containers_.contains(containerAddress(value)); };
  std::vector<IValue> pending{tuple};
  while (!pending.empty()) {
    const IValue next = pending.back();
    const size_t count = pending.size();
    const Tuple original = next.toTuple();
    if (!isCopied(next)) {
      for (const IValue& element : original.elements()) {
        if (element.isTuple() && !isCopied(element)) pending.push_back(element);
      }
    }
    if (pending.size() > count) continue;
    pending.pop_back();
    if (isCopied(next)) continue;
    std::vector<IValue> elements;
    for (const IValue& element : original.elements()) elements.push_back(copyUnfilled(element));
    containers_.emplace(containerAddress(next), std::pair(next, IValue(Tuple(std::move(elements)))));
  }
  return containers_.at(containerAddress(tuple)).second;
}

void ValueCopier::fill(const IValue& original, const IValue& copy) {
  if (original.isTensorList()) {
    const List<Tensor> copies = copy.toTensorList();
    for (const Tensor tensor : original.toTensorList()) copies.push_back(this->copy(tensor));
  } else if (original.isGenericList()) {
    const GenericList copies = copy.toList();
    for (const IValue element : original.toList()) copies.push_back(copyUnfilled(element));
  } else {
    const GenericDict entries = original.toGenericDict();
    const GenericDict copies = copy.toGenericDict();
    for (size_t i = 0; i < entries.size(); ++i) {
      const auto [key, element] = entries.entryAt(i);
      copies.insert_or_assign(key, copyUnfilled(element));
    }
  }
}

Stack copyValues(std::span<const IValue> values) {
  ValueCopier copier;
  Stack copies;
  for (const IValue& value : values) copies.push_back(copier.copy(value));
  return copies;
}

bool sameBits(const IValue& a, const IValue& b) {
  // Containers may contain themselves, or one another many times: each pair is compared once.
  std::set<std::pair<const void*, const void*>> compared;
  std::vector<std::pair<IValue, IValue>> pending{{a, b}};
  while (!pending.empty()) {
    const auto [x, y] = std::move(pending.back());
    pending.pop_back();
    if (x.is(y)) continue;
    if (x.tag() != y.tag()) return false;
    const void* const address = containerAddress(x);
    if (address != nullptr && !compared.emplace(address, containerAddress(y)).second) continue;
    if (x.isGenericDict()) {
      const GenericDict entries = x.toGenericDict();
      const GenericDict others = y.toGenericDict();
      if (entries.size() != others.size()) return false;
      for (size_t i = 0; i < entries.size(); ++i) {
        pending.emplace_back(entries.entryAt(i).first, others.entryAt(i).first);
        pending.emplace_back(entries.entryAt(i).second, others.entryAt(i).second);
      }
    } else if (x.isList() || x.isTuple()) {
      if (x.length() != y.length()) return false;
      for (size_t i = 0; i < x.length(); ++i) {
        // Number lists are compared at once, because they may be long.
        if (address != nullptr) {
          pending.emplace_back(x.elementAt(i), y.elementAt(i));
        } else if (!sameBitsAlone(x.elementAt(i), y.elementAt(i))) {
          return false;
        }
      }
    } else if (!sameBitsAlone(x, y)) {
      return false;
    }
  }
  return true;
}

}  // namespace boxcar
