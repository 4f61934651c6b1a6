#include <boxcar/ivalue/bytes_reached.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/from_blob.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar {
namespace {

// Called when the storage is freed.
struct Owner {
  std::function<void(void*)> deleter;  // empty until nothing can fail any more

  static void release(void* data, void* context) {
    const std::unique_ptr<Owner> owner(static_cast<Owner*>(context));
    if (owner->deleter != nullptr) owner->deleter(data);
  }
};

void checkNotNegative(std::string_view what, IntArrayRef values) {
  BOXCAR_CHECK(std::ranges::all_of(values, [](int64_t value) { return value >= 0; }),
               "from_blob: {} must not be negative, but they are [{}]", what, fmt::join(values, ", "));
}

Tensor tensorOver(void* data, IntArrayRef sizes, std::optional<IntArrayRef> given_strides,
                  const std::function<void(void*)>* deleter, const BlobOptions& options) {
  checkNotNegative("sizes", sizes);
  std::vector<int64_t> strides(sizes.size());
  if (given_strides.has_value()) {
    BOXCAR_CHECK(given_strides->size() == sizes.size(),
                 "from_blob: there must be a stride for each size, but sizes are [{}] and strides [{}]",
                 fmt::join(sizes, ", "), fmt::join(*given_strides, ", "));
    checkNotNegative("strides", *given_strides);
    std::ranges::copy(*given_strides, strides.begin());
  } else {
    contiguousStrides(sizes, strides);
  }
  const auto bytes = bytesReached(sizes, strides, elementSize(options.dtype));
  BOXCAR_CHECK(bytes.has_value(), "from_blob: sizes [{}] with strides [{}] are or reach more than 63 bits can count",
               fmt::join(sizes, ", "), fmt::join(strides, ", "));
  BOXCAR_CHECK(data != nullptr || *bytes == 0, "from_blob: sizes [{}] have elements, but the pointer to them is null",
               fmt::join(sizes, ", "));
  const size_t alignment = elementSize(toRealValueType(options.dtype));
  BOXCAR_CHECK(*bytes == 0 || reinterpret_cast<uintptr_t>(data) % alignment == 0,
               "from_blob: elements of {} must be aligned to {} bytes, and those at {} are not; copy them",
               dtypeName(options.dtype), alignment, fmt::ptr(data));
  const auto over = [&](Storage storage) {
    return Tensor(makeIntrusive<TensorImpl>(std::move(storage), options.dtype, sizes, strides, int64_t{0}));
  };
  if (deleter == nullptr) return over(StorageImpl::wrap(data, *bytes, options.device, nullptr, nullptr));
  std::function<void(void*)> kept = *deleter;
  auto* const owner = new Owner;
  Tensor tensor = over(StorageImpl::wrap(data, *bytes, options.device, Owner::release, owner));
  owner->deleter = std::move(kept);
  return tensor;
}

}  // namespace

Tensor from_blob(void* data, IntArrayRef sizes, const BlobOptions& options) {
  return tensorOver(data, sizes, std::nullopt, nullptr, options);
}

Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const BlobOptions& options) {
  return tensorOver(data, sizes, strides, nullptr, options);
}

Tensor from_blob(void* data, IntArrayRef sizes, const std::function<void(void*)>& deleter, const BlobOptions& options) {
  return tensorOver(data, sizes, std::nullopt, &deleter, options);
}

Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const std::function<void(void*)>& deleter,
                 const BlobOptions& options) {
  return tensorOver(data, sizes, strides, &deleter, options);
}

}  // namespace boxcar
