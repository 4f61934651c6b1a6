#pragma once

#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/ivalue/tensor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

// Kernels that work along lines of elements need the lines as contiguous rows.

namespace boxcar::cuda {

// Returns a view of [tensor] with dimension [dim] moved to the end.
inline Tensor withLast(const Tensor& tensor, size_t dim) {
  if (dim + 1 == tensor.sizes().size()) return tensor;
  DimVector sizes = toDimVector(tensor.sizes());
  DimVector strides = toDimVector(tensor.strides());
  const auto from = static_cast<std::ptrdiff_t>(dim);
  std::rotate(sizes.begin() + from, sizes.begin() + from + 1, sizes.end());
  std::rotate(strides.begin() + from, strides.begin() + from + 1, strides.end());
  return tensor.view(sizes, strides, tensor.storage_offset());
}

// Returns the lines of [tensor] along dimension [dim] as contiguous rows.
inline Tensor rowsOf(const Tensor& tensor, size_t dim) { return native::toContiguous(withLast(tensor, dim)); }

// Memory for rows that become lines of a result: the result's own memory if its lines are rows already.
class WrittenRows final {
 public:
  WrittenRows(const Tensor& result, size_t dim)
      : seen_(withLast(result, dim)),
        rows_(seen_.is_contiguous() ? seen_ : Tensor::allocate(seen_.sizes(), result.scalar_type(), result.device())) {}

  const Tensor& rows() const { return rows_; }
  // Call when the rows are written.
  void finish() const {
    if (!rows_.is_same(seen_)) native::copyElements(seen_, rows_);
  }

 private:
  Tensor seen_;
  Tensor rows_;
};

}  // namespace boxcar::cuda
