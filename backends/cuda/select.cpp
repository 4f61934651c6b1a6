#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/cuda/select.h>
#include <boxcar/backends/cuda/select_kernels.h>
#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/indexed_loop.h>
#include <boxcar/backends/native/nonzero.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <span>

namespace boxcar::cuda {

Tensor placesOfTrue(const Tensor& mask) {
  const int64_t n = mask.numel();
  const int64_t count = n == 0 ? 0 : native::readNumber(boxcar::sum(mask)).toInt();
  const Tensor places = Tensor::allocate({&count, 1}, ScalarType::Long, mask.device());
  if (count == 0) return places;
  const auto bytes = static_cast<int64_t>(module().places_of_true_bytes(n));
  const Tensor workspace = Tensor::allocate({&bytes, 1}, ScalarType::Byte, mask.device());
  const Tensor found = Tensor::allocate({}, ScalarType::Long, mask.device());
  module().places_of_true(workspace.data_ptr(), static_cast<size_t>(bytes), static_cast<const bool*>(mask.data_ptr()),
                          static_cast<int64_t*>(places.data_ptr()), static_cast<int64_t*>(found.data_ptr()), n);
  return places;
}

namespace {

Tensor indicesOfTrue(const Tensor& mask, std::span<const int64_t> tensor_sizes) {
  const Tensor places = placesOfTrue(mask);
  const int64_t count = places.numel();
  const int64_t sizes[] = {count, static_cast<int64_t>(tensor_sizes.size())};
  const int64_t strides[] = {1, std::max<int64_t>(count, 1)};
  if (tensor_sizes.size() == 1) return places.view(sizes, strides, 0);
  Tensor result = meta::allocateStrided(sizes, strides, ScalarType::Long, mask.device());
  if (count == 0) return result;
  auto* const out = static_cast<int64_t*>(result.data_ptr());
  int64_t below = 1;
  for (size_t dim = tensor_sizes.size(); dim-- > 0;) {
    module().indices_along(out + static_cast<int64_t>(dim) * count, static_cast<const int64_t*>(places.data_ptr()),
                           below, tensor_sizes[dim], count);
    below *= tensor_sizes[dim];
  }
  return result;
}

Tensor selectMasked(const Tensor& self, const Tensor& mask) {
  const Tensor places = placesOfTrue(mask);
  Tensor out = Tensor::allocate(places.sizes(), self.scalar_type(), self.device());
  if (out.numel() == 0) return out;
  const int64_t flat[] = {self.numel()};
  const int64_t one[] = {1};
  native::readChosen(self.device(), native::loopAlong(out, self.view(flat, one, self.storage_offset()), places, 0),
                     self.itemsize());
  return out;
}

void fillMasked(const Tensor& self, const Tensor& mask, const Tensor& source) {
  if (mask.numel() == 0) return;
  const Tensor counts = boxcar::cumsum(boxcar::reshape(mask, DimVector{mask.numel()}), 0);
  module().fill_masked({self.data_ptr(), source.data_ptr(), static_cast<const bool*>(mask.data_ptr()),
                        static_cast<const int64_t*>(counts.data_ptr()), mask.numel(), source.numel(), currentFailure()},
                       self.itemsize());
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::indicesOfTrue, indicesOfTrue)
BOXCAR_REGISTER_STUB(CUDA, native::selectMasked, selectMasked)
BOXCAR_REGISTER_STUB(CUDA, native::scatterMasked, fillMasked)

}  // namespace boxcar::cuda
