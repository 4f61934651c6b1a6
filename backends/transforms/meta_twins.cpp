#include <boxcar/backends/transforms/meta_twins.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ivalue/storage_without_memory.h>
#include <boxcar/ivalue/value_tensors.h>

#include <algorithm>

namespace boxcar::transforms {
namespace {

bool sameShape(const Tensor& a, const Tensor& b) {
  return a.storage_offset() == b.storage_offset() && std::ranges::equal(a.sizes(), b.sizes()) &&
         std::ranges::equal(a.strides(), b.strides());
}

}  // namespace

Tensor MetaTwins::twinOf(const Tensor& tensor) {
  if (!tensor.defined() || tensor.is_meta()) return tensor;
  for (const Pair& pair : tensors_) {
    if (pair.original.is_same(tensor)) return pair.twin;
  }
  const auto known = std::ranges::find(storages_, tensor.storage(), &StoragePair::original);
  Storage storage;
  if (known != storages_.end()) {
    storage = known->twin;
  } else {
    storage = StorageImpl::allocate(tensor.storage()->nbytes(), Device(DeviceType::Meta));
    storages_.push_back({tensor.storage(), storage, storage->version()});
  }
  Tensor twin(makeIntrusive<TensorImpl>(std::move(storage), tensor.scalar_type(), tensor.sizes(), tensor.strides(),
                                        tensor.storage_offset()));
  twin.unsafeGetTensorImpl()->set_wrapped_number(tensor.unsafeGetTensorImpl()->is_wrapped_number());
  takeMathBits(twin, tensor);
  tensors_.push_back({tensor, twin});
  return twin;
}

IValue MetaTwins::twinOf(const IValue& value) {
  return mapTensors(value, [this](const Tensor& tensor) { return twinOf(tensor); });
}

void MetaTwins::update() {
  for (StoragePair& pair : storages_) {
    if (pair.twin->version() == pair.version) continue;
    pair.original->bumpVersion();
    pair.version = pair.twin->version();
  }
  for (StoragePair& pair : storages_) {
    if (pair.twin->nbytes() != pair.original->nbytes()) pair.original->resize(pair.twin->nbytes());
  }
  for (const Pair& pair : tensors_) {
    TensorImpl* const original = pair.original.unsafeGetTensorImpl();
    const Tensor& twin = pair.twin;
    const Storage storage = originalOf(twin.storage(), pair.original.device());
    if (storage != original->storage()) {
      original->setStorage(storage, twin.sizes(), twin.strides(), twin.storage_offset());
    } else if (!sameShape(pair.original, twin)) {
      original->setShape(twin.sizes(), twin.strides(), twin.storage_offset());
    }
  }
}

const Storage& MetaTwins::originalOf(const Storage& twin, Device device) {
  const auto known = std::ranges::find(storages_, twin, &StoragePair::twin);
  if (known != storages_.end()) return known->original;
  storages_.push_back({storageWithoutMemory(twin->nbytes(), device), twin, twin->version()});
  return storages_.back().original;
}

Tensor MetaTwins::outside(const Tensor& result, Device device) {
  if (!result.defined()) return result;
  if (isFake(result)) return result;
  if (!result.is_meta()) return FakeConverter().convert(result);
  const Pair* first = nullptr;
  for (const Pair& pair : tensors_) {
    if (pair.twin.is_same(result)) return pair.original;
    if (pair.twin.storage() != result.storage()) continue;
    const bool is_base = result.unsafeGetTensorImpl()->base() == pair.twin.unsafeGetTensorImpl();
    if (first == nullptr || is_base) first = &pair;
  }
  if (first == nullptr && device.is_meta()) return result;
  if (first == nullptr) return makeFake(originalOf(result.storage(), device), result);
  Tensor view(makeIntrusive<TensorImpl>(*first->original.unsafeGetTensorImpl(), result.scalar_type(), result.sizes(),
                                        result.strides(), result.storage_offset()));
  takeMathBits(view, result);
  if (result.unsafeGetTensorImpl()->base() == nullptr) view.unsafeGetTensorImpl()->clear_base();
  return view;
}

IValue MetaTwins::outside(const IValue& result, Device device) {
  return mapTensors(result, [&](const Tensor& tensor) { return outside(tensor, device); });
}

}  // namespace boxcar::transforms
