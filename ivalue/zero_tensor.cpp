#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/tensor_impl.h>
#include <boxcar/ivalue/zero_tensor.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <vector>

namespace boxcar {
namespace {

constinit std::atomic<void (*)()> zero_tensor_hook{nullptr};

}  // namespace

void detail::setZeroTensorHook(void (*hook)()) noexcept { zero_tensor_hook.store(hook, std::memory_order_release); }

Tensor makeZeroTensor(std::span<const int64_t> sizes, ScalarType dtype, Device device) {
  if (void (*const hook)() = zero_tensor_hook.load(std::memory_order_acquire)) hook();
  const int64_t numel = numelOf(sizes);
  const auto itemsize = static_cast<int64_t>(elementSize(dtype));
  int64_t bytes = 0;
  BOXCAR_CHECK(itemsize != 0, "a tensor cannot have the dtype {}", dtypeName(dtype));
  BOXCAR_CHECK(!__builtin_mul_overflow(numel, itemsize, &bytes),
               "zeros of {} elements of {} have more bytes than 63 bits can count", numel, dtypeName(dtype));
  auto impl =
      makeIntrusive<TensorImpl>(detail::storageOfZeros(static_cast<size_t>(bytes), device), dtype, sizes, numel);
  impl->set_key_set(impl->key_set().add(DispatchKey::ZeroTensor));
  return Tensor(std::move(impl));
}

Tensor readableZeros(const Tensor& tensor) {
  const Tensor one = Tensor::allocate({}, tensor.scalar_type());
  std::memset(one.data_ptr(), 0, one.nbytes());
  const std::vector<int64_t> strides(static_cast<size_t>(tensor.dim()), 0);
  return Tensor(makeIntrusive<TensorImpl>(one.storage(), tensor.scalar_type(), tensor.sizes(), strides, 0));
}

}  // namespace boxcar
