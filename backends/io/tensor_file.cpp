#include <boxcar/backends/io/tensor_file.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace boxcar::io {
namespace {

bool isAlignedFor(ScalarType dtype, const void* address) {
  return reinterpret_cast<uintptr_t>(address) % elementSize(toRealValueType(dtype)) == 0;
}

// Appends the elements from address [from] on, along the dimensions from [dim] on.
void gather(const Tensor& tensor, int64_t dim, const std::byte* from, std::vector<std::byte>& to) {
  const size_t itemsize = tensor.itemsize();
  if (dim == tensor.dim()) {
    to.insert(to.end(), from, from + itemsize);
    return;
  }
  const int64_t step = tensor.strides()[dim] * static_cast<int64_t>(itemsize);
  for (int64_t i = 0; i < tensor.sizes()[dim]; ++i) gather(tensor, dim + 1, from + i * step, to);
}

}  // namespace

Storage storageInFile(const IntrusivePtr<MappedFile>& file, std::span<const std::byte> bytes) {
  // The storage's deleter releases its reference to the file.
  IntrusivePtr<MappedFile> reference = file;
  return StorageImpl::wrap(
      const_cast<std::byte*>(bytes.data()), bytes.size(), Device(DeviceType::CPU),
      [](void*, void* context) { IntrusivePtr<MappedFile>::adopt(static_cast<MappedFile*>(context)); },
      reference.releasePointer());
}

Tensor tensorInFile(const IntrusivePtr<MappedFile>& file, std::span<const std::byte> bytes, ScalarType dtype,
                    std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  if (!bytes.empty() && isAlignedFor(dtype, bytes.data()))
    return Tensor(makeIntrusive<TensorImpl>(storageInFile(file, bytes), dtype, sizes, strides, 0));
  const Storage storage = StorageImpl::allocate(bytes.size(), Device(DeviceType::CPU));
  if (!bytes.empty()) std::memcpy(storage->data(), bytes.data(), bytes.size());
  return Tensor(makeIntrusive<TensorImpl>(storage, dtype, sizes, strides, 0));
}

std::optional<uint64_t> bytesOfElements(ScalarType dtype, std::span<const int64_t> sizes) {
  if (std::ranges::find(sizes, 0) != sizes.end()) return 0;
  auto bytes = static_cast<int64_t>(elementSize(dtype));
  for (const int64_t size : sizes) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) return std::nullopt;
  }
  return static_cast<uint64_t>(bytes);
}

std::optional<size_t> findNoBool(std::span<const std::byte> bytes) {
  const auto found = std::ranges::find_if(bytes, [](std::byte byte) { return byte > std::byte{1}; });
  if (found == bytes.end()) return std::nullopt;
  return static_cast<size_t>(found - bytes.begin());
}

void checkWritable(const Tensor& tensor, std::string_view what, std::string_view path) {
  BOXCAR_CHECK(tensor.defined(), "cannot write '{}': {} is undefined", path, what);
  const std::string_view unreadable = whyUnreadable(tensor);
  BOXCAR_CHECK(unreadable.empty(), "cannot write '{}': {} cannot be read: {}", path, what, unreadable);
  BOXCAR_CHECK(tensor.is_cpu(), "cannot write '{}': {} is on device '{}'; copy it to the CPU first", path, what,
               tensor.device());
  BOXCAR_CHECK(tensor.layout() == Layout::Strided,
               "cannot write '{}': a tensor of layout torch.{} has its elements in an order of a library's; save "
               "x.to_dense()",
               path, layoutName(tensor.layout()));
  BOXCAR_CHECK(bytesOfElements(tensor.dtype(), tensor.sizes()).has_value(),
               "cannot write '{}': a tensor of {} elements of {} has more bytes than a file can have; save what it was "
               "expanded from",
               path, tensor.numel(), dtypeName(tensor.dtype()));
}

void writeElements(const Tensor& given, OutputFile& file) {
  if (given.numel() == 0) return;
  const Tensor tensor = resolved(given);
  const auto* first = static_cast<const std::byte*>(tensor.data_ptr());
  if (tensor.is_contiguous()) {
    file.write({first, tensor.nbytes()});
  } else {
    std::vector<std::byte> bytes;
    bytes.reserve(tensor.nbytes());
    gather(tensor, 0, first, bytes);
    file.write(bytes);
  }
}

}  // namespace boxcar::io
