#include <boxcar/backends/meta/join.h>
#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/native/append.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/last_reference.h>
#include <boxcar/ivalue/weak_ptr.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace boxcar::native {
namespace {

// Room pays for what grows by little at a time, and is more than a copy of a few microseconds.
constexpr int64_t kLeastParts = 4;
constexpr size_t kLeastGrowing = size_t{1} << 14;  // bytes
constexpr int64_t kLeastRoom = 32;

// What marks the storages that are allocated here: gaps between the elements of others may be someone else's.
class GrowthMark final : public Object {};

const IntrusivePtr<Object>& growthMark() {
  static const auto& mark = *new IntrusivePtr<Object>(makeIntrusive<GrowthMark>());
  return mark;
}

bool hasGrown(const Tensor& tensor) { return attachedTo(*tensor.storage()).get() == growthMark().get(); }

// Whether a tensor of these dimensions lies in [storage], no two elements at one place.
bool fits(const StorageImpl& storage, size_t itemsize, const DimVector& sizes, std::span<const int64_t> strides,
          int64_t offset) {
  DimVector order;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1) order.push_back(static_cast<int64_t>(i));
  }
  std::ranges::sort(order, {}, [&](int64_t dim) { return strides[static_cast<size_t>(dim)]; });
  int64_t reach = 1;  // of the elements of the inner dimensions
  for (const int64_t dim : order) {
    const int64_t stride = strides[static_cast<size_t>(dim)];
    if (stride < reach) return false;
    reach += (sizes[static_cast<size_t>(dim)] - 1) * stride;
  }
  return static_cast<size_t>(offset + reach) * itemsize <= storage.nbytes();
}

// Copies [part] to the elements of [out] from [begin] on along [dim].
void writePart(const Tensor& out, const Tensor& part, size_t dim, int64_t begin) {
  copyElements(out.view(part.sizes(), out.strides(), out.storage_offset() + begin * out.strides()[dim]), part);
}

Tensor inPlace(const Tensor& self, const Tensor& other, const meta::Joined& joined) {
  const auto strides = self.strides();
  if (!fits(*self.storage(), self.itemsize(), joined.sizes, strides, self.storage_offset())) return {};
  Tensor result(makeIntrusive<TensorImpl>(self.storage(), joined.dtype, joined.sizes, strides, self.storage_offset()));
  writePart(result, other, joined.dim, self.sizes()[joined.dim]);
  result.storage()->bumpVersion();
  return result;
}

Tensor withRoom(const Tensor& self, const Tensor& other, const meta::Joined& joined) {
  DimVector sizes = joined.sizes;
  const int64_t length = sizes[joined.dim];
  sizes[joined.dim] = length + std::max(length / 2, kLeastRoom);
  DimVector strides = sizes;
  contiguousStrides(sizes, strides);
  Storage storage = StorageImpl::allocate(static_cast<size_t>(numelOf(sizes)) * self.itemsize(), self.device());
  attach(*storage, growthMark());
  Tensor result(makeIntrusive<TensorImpl>(std::move(storage), joined.dtype, joined.sizes, strides, 0));
  writePart(result, self, joined.dim, 0);
  writePart(result, other, joined.dim, self.sizes()[joined.dim]);
  return result;
}

bool isPlain(const Tensor& tensor) { return tensor.defined() && tensor.is_cpu() && tensor.layout() == Layout::Strided; }

}  // namespace

Tensor appended(const Tensor& self, const Tensor& other, int64_t dim) {
  if (!isPlain(self) || !isPlain(other) || self.scalar_type() != other.scalar_type()) return {};
  const bool owns_self = isOnlyReference(self);
  const bool owns_other = isOnlyReference(other);
  if (!owns_self && !owns_other) return {};
  const Tensor parts[] = {self, other};
  const meta::Joined joined = meta::joinAlong(parts, dim);
  // Programs begin a cache with nothing in it.
  if (meta::isLegacyEmpty(self)) {
    const bool is_own = isLastReference(other) && other.is_contiguous();
    return is_own || (owns_other && hasGrown(other)) ? other : Tensor();
  }
  if (!owns_self || meta::isLegacyEmpty(other) || self.numel() == 0 || other.numel() == 0) return {};
  const bool has_grown = hasGrown(self);
  if (has_grown) {
    if (Tensor result = inPlace(self, other, joined); result.defined()) return result;
  }
  DimVector contiguous = joined.sizes;
  contiguousStrides(joined.sizes, contiguous);
  const bool grows = has_grown || (self.sizes()[joined.dim] >= kLeastParts * other.sizes()[joined.dim] &&
                                   self.nbytes() >= kLeastGrowing);
  return grows && joined.strides == contiguous ? withRoom(self, other, joined) : Tensor();
}

}  // namespace boxcar::native
