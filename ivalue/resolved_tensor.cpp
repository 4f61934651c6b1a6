#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ivalue/zero_tensor.h>

#include <atomic>

namespace boxcar {
namespace {

constinit std::atomic<ResolveTensor> resolve_tensor{nullptr};
constinit std::atomic<void (*)()> math_bits_hook{nullptr};

}  // namespace

Tensor withOtherBit(const Tensor& tensor, DispatchKey key) {
  if (void (*const hook)() = math_bits_hook.load(std::memory_order_acquire)) hook();
  Tensor view = tensor.view(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  const DispatchKeySet keys = tensor.key_set();
  view.unsafeGetTensorImpl()->set_key_set(keys.has(key) ? keys.remove(key) : keys.add(key));
  return view;
}

Tensor withoutMathBits(const Tensor& tensor) {
  Tensor plain = tensor.shallowCopy();
  plain.unsafeGetTensorImpl()->set_key_set(plain.key_set() - math_bits_ks - autograd_dispatch_keyset);
  return plain;
}

Tensor resolved(const Tensor& tensor) {
  if (!isLazy(tensor)) [[likely]]
    return tensor;
  if (isZeroTensor(tensor)) return readableZeros(tensor);
  const ResolveTensor resolve = resolve_tensor.load(std::memory_order_acquire);
  BOXCAR_CHECK(resolve != nullptr,
               "a tensor has the key Conjugate or Negative, but none was made by an operator; use aten::_conj or "
               "aten::_neg_view");
  return resolve(tensor);
}

std::string_view whyUnreadable(const Tensor& tensor) noexcept {
  const DispatchKeySet keys = tensor.key_set();
  if (keys.has(DispatchKey::FuncTorchBatched)) {
    return "it is inside func::vmap(), where it stands for several slices; take what the function returns";
  }
  if (keys.has(DispatchKey::Fake)) {
    return "it is fake and has no elements; make it outside of fake(), or take func::materialize(x)";
  }
  // A kernel that a fake tensor is given to gets one on the meta device.
  if (tensor.is_meta()) return "it is on the meta device, or fake, and has no elements; make it on another device";
  return {};
}

void detail::setMathBitsHook(void (*hook)()) noexcept { math_bits_hook.store(hook, std::memory_order_release); }

void setResolveTensor(ResolveTensor resolve) noexcept { resolve_tensor.store(resolve, std::memory_order_release); }

}  // namespace boxcar
