#include <boxcar/dispatcher/dispatcher.h>
#include <boxcar/dispatcher/fallbacks/host_bytes.h>
#include <boxcar/dispatcher/local_dispatch_key_set.h>

#include <algorithm>
#include <cstring>

namespace boxcar {
namespace {

// What a call brings that only moves bytes for a handler: no other handler, and no gradient.
constexpr DispatchKeySet kUnseen({DispatchKey::PreDispatch, DispatchKey::Python, DispatchKey::Tracer,
                                  DispatchKey::AutogradFunctionality, DispatchKey::ADInplaceOrView});

// The elements of [dtype] in [range], as a tensor of one dimension over [storage].
Tensor flat(const Storage& storage, ByteRange range, ScalarType dtype) {
  const auto itemsize = static_cast<int64_t>(elementSize(dtype));
  const int64_t count = static_cast<int64_t>(range.count) / itemsize;
  const int64_t stride = 1;
  return Tensor(makeIntrusive<TensorImpl>(storage, dtype, std::span(&count, 1), std::span(&stride, 1),
                                          static_cast<int64_t>(range.first) / itemsize));
}

void copyUnseen(const Tensor& to, const Tensor& from) {
  const ExcludeDispatchKeyGuard unseen(kUnseen);
  static const OperatorHandle copy = Dispatcher::singleton().findSchemaOrThrow("aten::copy_", "");
  Stack stack;
  push(stack, to, from, false);
  copy.callBoxed(stack);
}

// Appends the elements of dimension [dim] and those below it, from byte [at] on.
void gather(const std::byte* at, std::span<const int64_t> sizes, std::span<const int64_t> strides, size_t itemsize,
            std::byte*& out) {
  if (sizes.empty()) {
    std::memcpy(out, at, itemsize);
    out += itemsize;
    return;
  }
  const auto step = strides[0] * static_cast<int64_t>(itemsize);
  if (sizes.size() == 1 && strides[0] == 1) {
    const size_t bytes = static_cast<size_t>(sizes[0]) * itemsize;
    std::memcpy(out, at, bytes);
    out += bytes;
    return;
  }
  for (int64_t i = 0; i < sizes[0]; ++i) gather(at + i * step, sizes.subspan(1), strides.subspan(1), itemsize, out);
}

}  // namespace

ByteRange span(const ByteRange& a, const ByteRange& b) noexcept {
  if (a.count == 0) return b;
  if (b.count == 0) return a;
  const uint64_t first = std::min(a.first, b.first);
  return {first, std::max(a.end(), b.end()) - first};
}

ByteRange reachedBytes(const Tensor& tensor) noexcept {
  if (tensor.numel() == 0) return {};
  int64_t elements = 1;
  for (size_t i = 0; i < tensor.sizes().size(); ++i) elements += (tensor.sizes()[i] - 1) * tensor.strides()[i];
  return {static_cast<uint64_t>(tensor.storage_offset()) * tensor.itemsize(),
          static_cast<uint64_t>(elements) * tensor.itemsize()};
}

HostBytes::HostBytes(const Storage& storage, ByteRange range, ScalarType dtype) {
  if (range.count == 0 || storage->data() == nullptr) return;
  if (storage->device().is_cpu()) {
    bytes_ = {static_cast<const std::byte*>(storage->data()) + range.first, range.count};
    return;
  }
  const Tensor there = flat(storage, range, dtype);
  copy_ = Tensor::allocate(there.sizes(), dtype);
  copyUnseen(copy_, there);
  bytes_ = {static_cast<const std::byte*>(copy_.data_ptr()), range.count};
}

void writeFromHost(const Storage& storage, uint64_t first, std::span<const std::byte> bytes, ScalarType dtype) {
  if (bytes.empty() || storage->device().is_meta()) return;
  if (storage->device().is_cpu()) {
    std::memcpy(static_cast<std::byte*>(storage->data()) + first, bytes.data(), bytes.size());
    return;
  }
  const Tensor there = flat(storage, {first, bytes.size()}, dtype);
  const Tensor here = Tensor::allocate(there.sizes(), dtype);
  std::memcpy(here.data_ptr(), bytes.data(), bytes.size());
  copyUnseen(there, here);
}

std::vector<std::byte> elementsOf(const Tensor& tensor) {
  if (!tensor.defined() || tensor.numel() == 0) return {};
  const HostBytes bytes(tensor.storage(), reachedBytes(tensor), tensor.scalar_type());
  if (bytes.get().empty()) return {};
  std::vector<std::byte> elements(tensor.nbytes());
  if (tensor.is_contiguous()) {
    std::memcpy(elements.data(), bytes.get().data(), elements.size());
  } else {
    std::byte* out = elements.data();
    gather(bytes.get().data(), tensor.sizes(), tensor.strides(), tensor.itemsize(), out);
  }
  return elements;
}

}  // namespace boxcar
