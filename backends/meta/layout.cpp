#include <boxcar/backends/meta/layout.h>

#include <algorithm>

namespace boxcar::meta {
namespace {

Strided stridedOf(const Tensor* tensor) { return {tensor->sizes(), tensor->strides()}; }
const Strided& stridedOf(const Strided& tensor) { return tensor; }

// Returns the stride of [tensor] along dimension [dim] of a shape of [rank] dimensions that it broadcasts to; 0 if it
// is broadcast there.
int64_t strideAlong(const Strided& tensor, size_t dim, size_t rank) {
  const size_t missing = rank - tensor.sizes.size();
  if (dim < missing || tensor.sizes[dim - missing] == 1) return 0;
  return tensor.strides[dim - missing];
}

// Returns 1 if dimension [a] is inside dimension [b], -1 if outside, 0 if no tensor decides.
template <class T>
int compareDims(size_t a, size_t b, std::span<const int64_t> sizes, std::span<const T> like) {
  for (const T& tensor : like) {
    const int64_t stride_a = strideAlong(stridedOf(tensor), a, sizes.size());
    const int64_t stride_b = strideAlong(stridedOf(tensor), b, sizes.size());
    if (stride_a == 0 || stride_b == 0) continue;
    if (stride_a != stride_b) return stride_a < stride_b ? 1 : -1;
    if (sizes[a] > sizes[b]) return -1;
  }
  return 0;
}

template <class T>
DimVector stridesOfOrder(std::span<const int64_t> sizes, std::span<const T> like) {
  // Innermost first. Starts in contiguous order and uses insertion sort, as undecided pairs must keep their order.
  DimVector order(sizes.size(), boost::container::default_init);
  for (size_t i = 0; i < sizes.size(); ++i) order[i] = static_cast<int64_t>(sizes.size() - 1 - i);
  for (size_t i = 1; i < order.size(); ++i) {
    size_t moving = i;
    for (size_t j = i; j-- > 0;) {
      const int order_of = compareDims(static_cast<size_t>(order[moving]), static_cast<size_t>(order[j]), sizes, like);
      if (order_of < 0) break;
      if (order_of > 0) {
        std::swap(order[moving], order[j]);
        moving = j;
      }
    }
  }
  DimVector strides(sizes.size(), boost::container::default_init);
  int64_t stride = 1;
  for (const int64_t dim : order) {
    strides[static_cast<size_t>(dim)] = stride;
    // Saturates like contiguousStrides.
    if (__builtin_mul_overflow(stride, std::max<int64_t>(sizes[static_cast<size_t>(dim)], 1), &stride)) {
      stride = std::numeric_limits<int64_t>::max();
    }
  }
  return strides;
}

}  // namespace

DimVector stridesLike(std::span<const int64_t> sizes, std::span<const Tensor* const> like) {
  return stridesOfOrder(sizes, like);
}

DimVector stridesLike(std::span<const int64_t> sizes, std::span<const Strided> like) {
  return stridesOfOrder(sizes, like);
}

bool isDense(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  DimVector order;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return true;
    if (sizes[i] != 1) order.push_back(static_cast<int64_t>(i));
  }
  const auto stride_of = [&](int64_t dim) { return strides[static_cast<size_t>(dim)]; };
  std::ranges::sort(order, {}, stride_of);
  int64_t expected = 1;
  for (const int64_t dim : order) {
    if (stride_of(dim) != expected) return false;
    expected *= sizes[static_cast<size_t>(dim)];
  }
  return true;
}

DimVector denseStrides(const Tensor& tensor) {
  if (isDense(tensor.sizes(), tensor.strides())) return toDimVector(tensor.strides());
  const Tensor* like[] = {&tensor};
  return stridesLike(tensor.sizes(), like);
}

Tensor allocateStrided(std::span<const int64_t> sizes, std::span<const int64_t> strides, ScalarType dtype,
                       Device device) {
  const Tensor flat = Tensor::allocate(sizes, dtype, device);
  if (std::ranges::equal(flat.strides(), strides)) return flat;
  flat.unsafeGetTensorImpl()->setShape(sizes, strides, 0);
  return flat;
}

}  // namespace boxcar::meta
