#include <boxcar/dispatcher/values/host_bytes.h>
#include <boxcar/dispatcher/values/tensor_bytes.h>

#include <algorithm>
#include <cstring>

namespace boxcar {
ByteRange span(const ByteRange& a, const ByteRange& b) noexcept {
  if (a.count == 0) return b;
  if (b.count == 0) return a;
  const uint64_t first = std::min(a.first, b.first);
  return {first, std::max(a.end(), b.end()) - first};
}

ByteRange reachedBytes(const Tensor& tensor) noexcept {
  if (tensor.numel() == 0 || tensor.layout() != Layout::Strided) return {};
  int64_t elements = 1;
  for (size_t i = 0; i < tensor.sizes().size(); ++i) elements += (tensor.sizes()[i] - 1) * tensor.strides()[i];
  return {static_cast<uint64_t>(tensor.storage_offset()) * tensor.itemsize(),
          static_cast<uint64_t>(elements) * tensor.itemsize()};
}

Tensor flatElements(const Storage& storage, ByteRange range, ScalarType dtype) {
  const auto itemsize = static_cast<int64_t>(elementSize(dtype));
  const int64_t count = static_cast<int64_t>(range.count) / itemsize;
  const int64_t stride = 1;
  return Tensor(makeIntrusive<TensorImpl>(storage, dtype, std::span(&count, 1), std::span(&stride, 1),
                                          static_cast<int64_t>(range.first) / itemsize));
}

HostBytes::HostBytes(const Storage& storage, ByteRange range, ScalarType dtype) {
  if (range.count == 0 || storage->data() == nullptr) return;
  if (storage->device().is_cpu()) {
    bytes_ = {static_cast<const std::byte*>(storage->data()) + range.first, range.count};
    return;
  }
  const Tensor there = flatElements(storage, range, dtype);
  copy_ = Tensor::allocate(there.sizes(), dtype);
  copyHidden(copy_, there);
  bytes_ = {static_cast<const std::byte*>(copy_.data_ptr()), range.count};
}

void writeFromHost(const Storage& storage, uint64_t first, std::span<const std::byte> bytes, ScalarType dtype) {
  if (bytes.empty() || storage->data() == nullptr) return;
  if (storage->device().is_cpu()) {
    std::memcpy(static_cast<std::byte*>(storage->data()) + first, bytes.data(), bytes.size());
    return;
  }
  const Tensor there = flatElements(storage, {first, bytes.size()}, dtype);
  const Tensor here = Tensor::allocate(there.sizes(), dtype);
  std::memcpy(here.data_ptr(), bytes.data(), bytes.size());
  copyHidden(there, here);
}

}  // namespace boxcar
