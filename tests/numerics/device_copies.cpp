#include "tests/numerics/device_copies.h"

#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ops.h>

#include <algorithm>

namespace boxcar::numerics {
namespace {

// Returns all bytes of [storage] as a tensor.
Tensor bytesOf(const Storage& storage) {
  const auto count = static_cast<int64_t>(storage->nbytes());
  const int64_t step = 1;
  return Tensor(makeIntrusive<TensorImpl>(storage, ScalarType::Byte, std::span(&count, 1), std::span(&step, 1), 0));
}

void copyBytes(const Storage& to, const Storage& from) {
  if (from->nbytes() == 0) return;
  Tensor target = bytesOf(to);
  boxcar::copy_(target, bytesOf(from));
}

Tensor over(const Storage& storage, const Tensor& like) {
  Tensor made(
      makeIntrusive<TensorImpl>(storage, like.scalar_type(), like.sizes(), like.strides(), like.storage_offset()));
  made.unsafeGetTensorImpl()->set_wrapped_number(like.unsafeGetTensorImpl()->is_wrapped_number());
  takeMathBits(made, like);
  return made;
}

// Returns [value] with each tensor in it replaced by convert(tensor).
template <class Convert>
IValue mapTensors(const IValue& value, const Convert& convert) {
  if (value.isTensor()) return value.toTensor().defined() ? IValue(convert(value.toTensor())) : value;
  if (value.isTensorList()) {
    List<Tensor> list;
    for (const Tensor& tensor : value.toTensorList().span()) list.push_back(convert(tensor));
    return IValue(list);
  }
  if (value.isGenericList()) {
    bool has_tensors = false;
    for (size_t i = 0; i < value.length(); ++i) has_tensors = has_tensors || value.elementAt(i).isTensor();
    if (!has_tensors) return value;
    List<std::optional<Tensor>> list;
    for (size_t i = 0; i < value.length(); ++i) {
      const IValue element = value.elementAt(i);
      list.push_back(element.isTensor() ? std::optional<Tensor>(convert(element.toTensor())) : std::nullopt);
    }
    return IValue(list);
  }
  return value;
}

}  // namespace

Storage DeviceCopies::storageOnDevice(const Storage& host) {
  const auto known = std::ranges::find(storages_, host, &std::pair<Storage, Storage>::first);
  if (known != storages_.end()) return known->second;
  Storage made = StorageImpl::allocate(host->nbytes(), device_);
  copyBytes(made, host);
  storages_.emplace_back(host, made);
  return made;
}

Storage DeviceCopies::storageOnHost(const Storage& device) {
  const auto known = std::ranges::find(storages_, device, &std::pair<Storage, Storage>::second);
  if (known != storages_.end()) return known->first;
  Storage made = StorageImpl::allocate(device->nbytes(), DeviceType::CPU);
  copyBytes(made, device);
  storages_.emplace_back(made, device);
  return made;
}

Tensor DeviceCopies::toDevice(const Tensor& tensor) {
  if (!tensor.is_cpu()) return tensor;
  const auto known = std::ranges::find_if(tensors_, [&](const auto& pair) { return pair.first.is_same(tensor); });
  if (known != tensors_.end()) return known->second;
  const Tensor made = over(storageOnDevice(tensor.storage()), tensor);
  tensors_.emplace_back(tensor, made);
  return made;
}

Tensor DeviceCopies::toHost(const Tensor& tensor) {
  if (tensor.device().type() != device_.type()) return tensor;
  const auto known = std::ranges::find_if(tensors_, [&](const auto& pair) { return pair.second.is_same(tensor); });
  if (known != tensors_.end()) return known->first;
  const Tensor made = over(storageOnHost(tensor.storage()), tensor);
  tensors_.emplace_back(made, tensor);
  return made;
}

IValue DeviceCopies::toDevice(const IValue& value) {
  if (value.isDevice() && value.toDevice().is_cpu()) return IValue(device_);
  return mapTensors(value, [this](const Tensor& tensor) { return toDevice(tensor); });
}

Stack DeviceCopies::toDevice(const Stack& values) {
  Stack moved;
  for (const IValue& value : values) moved.push_back(toDevice(value));
  return moved;
}

void DeviceCopies::updateHost() {
  for (const auto& [host, device] : storages_) {
    if (host->nbytes() != device->nbytes()) host->resize(device->nbytes());
    copyBytes(host, device);
  }
  for (const auto& [host, device] : tensors_) {
    host.unsafeGetTensorImpl()->setShape(device.sizes(), device.strides(), device.storage_offset());
  }
}

IValue DeviceCopies::toHost(const IValue& value) {
  return mapTensors(value, [this](const Tensor& tensor) { return toHost(tensor); });
}

}  // namespace boxcar::numerics
