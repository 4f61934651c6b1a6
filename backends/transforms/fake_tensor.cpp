#include <boxcar/backends/transforms/fake_kernel.h>
#include <boxcar/backends/transforms/fake_tensor.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ivalue/storage_without_memory.h>
#include <boxcar/ivalue/value_tensors.h>

namespace boxcar::transforms {

IntrusivePtr<TensorMetadata> FakeMetadata::copy() const {
  // The constant is not copied: the copy's memory counts its own writes.
  return nullptr;
}

FakeMetadata* fakeMetadata(const Tensor& tensor) noexcept {
  return dynamic_cast<FakeMetadata*>(tensor.unsafeGetTensorImpl()->metadata(TensorMetadata::Kind::kTransform));
}

FakeMetadata& ensureFakeMetadata(const Tensor& tensor) {
  if (FakeMetadata* known = fakeMetadata(tensor)) return *known;
  auto made = makeIntrusive<FakeMetadata>();
  FakeMetadata& metadata = *made;
  tensor.unsafeGetTensorImpl()->set_metadata(std::move(made));
  return metadata;
}

Tensor constantOf(const Tensor& tensor) {
  const FakeMetadata* const known = fakeMetadata(tensor);
  return known != nullptr && known->version == tensor.version() ? known->constant : Tensor();
}

void setConstant(const Tensor& tensor, Tensor constant) {
  FakeMetadata& metadata = ensureFakeMetadata(tensor);
  metadata.constant = std::move(constant);
  metadata.version = tensor.version();
}

Device withIndex(Device device) noexcept {
  if (device.is_cpu() || device.is_meta() || device.has_index()) return device;
  return {device.type(), 0};
}

Tensor makeFake(Storage storage, const Tensor& like) {
  Tensor made(makeIntrusive<TensorImpl>(std::move(storage), like.scalar_type(), like.sizes(), like.strides(),
                                        like.storage_offset()));
  TensorImpl* const impl = made.unsafeGetTensorImpl();
  const DispatchKeySet zero = like.key_set() & DispatchKeySet(DispatchKey::ZeroTensor);
  impl->set_key_set(impl->key_set().add(DispatchKey::Fake) | zero);
  takeMathBits(made, like);
  impl->set_wrapped_number(like.unsafeGetTensorImpl()->is_wrapped_number());
  return made;
}

Tensor FakeConverter::convert(const Tensor& tensor) {
  if (!tensor.defined() || isFake(tensor)) return tensor;
  if (const auto known = tensors_.find(tensor.unsafeGetTensorImpl()); known != tensors_.end()) {
    return known->second.second;
  }
  registerFakeKernel();
  BOXCAR_CHECK(tensor.layout() == Layout::Strided, "a tensor of layout torch.{} has no fake form; convert x.to_dense()",
               layoutName(tensor.layout()));
  std::pair<Storage, Storage>& storage = storages_[tensor.storage().get()];
  if (!storage.second) {
    storage = {tensor.storage(),
               storageWithoutMemory(tensor.storage()->nbytes(), withIndex(device_.value_or(tensor.device())))};
  }
  Tensor fake = makeFake(storage.second, tensor);
  if (tensor.requires_grad()) fake.set_requires_grad(true);
  tensors_.emplace(tensor.unsafeGetTensorImpl(), std::pair(tensor, fake));
  return fake;
}

IValue FakeConverter::convert(const IValue& value) {
  return mapTensors(value, [this](const Tensor& tensor) { return convert(tensor); });
}

}  // namespace boxcar::transforms
