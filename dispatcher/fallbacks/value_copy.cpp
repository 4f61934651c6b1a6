#include <boxcar/dispatcher/fallbacks/hidden_calls.h>
#include <boxcar/dispatcher/fallbacks/tensor_bytes.h>
#include <boxcar/dispatcher/fallbacks/value_copy.h>

#include <bit>
#include <cstring>

namespace boxcar {
namespace {

const void* addressOf(const IValue& container) {
  switch (container.tag()) {
    case IValue::Tag::TensorList: return container.toTensorList().object().get();
    case IValue::Tag::GenericList: return container.toList().object().get();
    case IValue::Tag::GenericDict: return container.toGenericDict().object().get();
    case IValue::Tag::Tuple: return container.toTuple().object().get();
    default: return nullptr;
  }
}

bool sameNumber(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }

// Lists may hold themselves: deeper than that nothing is compared.
constexpr int kMaxDepth = 64;

bool sameBitsWithin(const IValue& a, const IValue& b, int depth);

bool sameEntries(const GenericDict& a, const GenericDict& b, int depth) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto [key_a, value_a] = a.entryAt(i);
    const auto [key_b, value_b] = b.entryAt(i);
    if (!sameBitsWithin(key_a, key_b, depth) || !sameBitsWithin(value_a, value_b, depth)) return false;
  }
  return true;
}

bool sameBitsWithin(const IValue& a, const IValue& b, int depth) {
  if (a.is(b) || depth == 0) return true;
  if (a.tag() != b.tag()) return false;
  switch (a.tag()) {
    case IValue::Tag::Double: return sameNumber(a.toDouble(), b.toDouble());
    case IValue::Tag::ComplexDouble:
      return sameNumber(a.toComplexDouble().real(), b.toComplexDouble().real()) &&
             sameNumber(a.toComplexDouble().imag(), b.toComplexDouble().imag());
    case IValue::Tag::Tensor: return sameBits(a.toTensor(), b.toTensor());
    case IValue::Tag::GenericDict: return sameEntries(a.toGenericDict(), b.toGenericDict(), depth - 1);
    case IValue::Tag::String: return a.toStringView() == b.toStringView();
    default: break;
  }
  if (!a.isAnyList() && !a.isTuple()) return a == b;
  if (a.length() != b.length()) return false;
  for (size_t i = 0; i < a.length(); ++i) {
    if (!sameBitsWithin(a.elementAt(i), b.elementAt(i), depth - 1)) return false;
  }
  return true;
}

}  // namespace

Storage ValueCopier::copyStorage(const Storage& storage) {
  const auto known = storages_.find(storage.get());
  if (known != storages_.end()) return known->second.second;
  const Device device = target_ == Target::kMeta ? Device(DeviceType::Meta) : storage->device();
  const HiddenCalls hidden;
  Storage copy = StorageImpl::allocate(storage->nbytes(), device);
  if (device.type() == DeviceType::CPU) {
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
  Tensor copy(makeIntrusive<TensorImpl>(copyStorage(tensor.storage()), tensor.scalar_type(), tensor.sizes(),
                                        tensor.strides(), tensor.storage_offset()));
  copy.unsafeGetTensorImpl()->set_wrapped_number(impl->is_wrapped_number());
  if (target_ == Target::kSameDevice) {
    copy.set_requires_grad(tensor.requires_grad());
    copy.unsafeGetTensorImpl()->set_metadata(impl->metadata());
    copy.unsafeGetTensorImpl()->set_key_set(impl->key_set());
  }
  tensors_.emplace(impl, std::pair(tensor, copy));
  return copy;
}

void ValueCopier::replace(const Tensor& original, const Tensor& copy) {
  tensors_.insert_or_assign(original.unsafeGetTensorImpl(), std::pair(original, copy));
}

IValue ValueCopier::copy(const IValue& value) {
  if (value.isTensor()) return copy(value.toTensor());
  if (value.isDevice() && target_ == Target::kMeta) return Device(DeviceType::Meta);
  if (value.isIntList()) return value.toIntList().copy();
  if (value.isDoubleList()) return value.toDoubleList().copy();
  if (value.isBoolList()) return value.toBoolList().copy();
  if (value.isComplexDoubleList()) return value.toComplexDoubleList().copy();
  const void* const address = addressOf(value);
  if (address == nullptr) return value;
  const auto known = containers_.find(address);
  if (known != containers_.end()) return known->second.second;
  // A list that holds itself is met again below, so that its copy must be known before it is filled.
  const auto remember = [&](const IValue& copy) { containers_.emplace(address, std::pair(value, copy)); };
  if (value.isTensorList()) {
    const List<Tensor> copies;
    remember(copies);
    for (const Tensor& tensor : value.toTensorList()) copies.push_back(copy(tensor));
    return copies;
  }
  if (value.isList()) {
    const GenericList copies;
    remember(copies);
    for (const IValue& element : value.toList()) copies.push_back(copy(element));
    return copies;
  }
  if (value.isGenericDict()) {
    const GenericDict original = value.toGenericDict();
    const GenericDict copies;
    remember(copies);
    for (size_t i = 0; i < original.size(); ++i) {
      const auto [key, element] = original.entryAt(i);
      copies.insert_or_assign(key, copy(element));
    }
    return copies;
  }
  std::vector<IValue> elements;
  const Tuple tuple = value.toTuple();
  for (const IValue& element : tuple.elements()) elements.push_back(copy(element));
  const IValue copied = Tuple(std::move(elements));
  remember(copied);
  return copied;
}

Stack copyValues(std::span<const IValue> values) {
  ValueCopier copier;
  Stack copies;
  for (const IValue& value : values) copies.push_back(copier.copy(value));
  return copies;
}

bool sameBits(const IValue& a, const IValue& b) { return sameBitsWithin(a, b, kMaxDepth); }

}  // namespace boxcar
