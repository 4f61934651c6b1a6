#include <boxcar/backends/cuda/strided_layout.h>

#include <algorithm>
#include <cstdlib>

namespace boxcar::cuda {

StridedLayout::StridedLayout(std::span<const int64_t> sizes)
    : sizes_(sizes.rbegin(), sizes.rend()), strides_(sizes.size()) {}

void StridedLayout::add(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t itemsize) {
  for (size_t dim = 0; dim < sizes_.size(); ++dim) {
    const bool has = dim < sizes.size();
    const size_t at = sizes.size() - 1 - dim;
    strides_[dim].push_back(!has || sizes[at] == 1 ? 0 : strides[at] * itemsize);
  }
}

// Whether dimension [a] belongs inside [b]: its stride is smaller in the first operand where both strides differ and
// neither is 0.
bool StridedLayout::liesInside(size_t a, size_t b) const {
  for (size_t k = 0; k < strides_[a].size(); ++k) {
    const int64_t in_a = std::abs(strides_[a][k]);
    const int64_t in_b = std::abs(strides_[b][k]);
    if (in_a == 0 || in_b == 0 || in_a == in_b) continue;
    return in_a < in_b;
  }
  return false;
}

void StridedLayout::prepare() {
  // Insertion sort, because broadcast dimensions compare equal to all others, which std::sort does not allow.
  for (size_t i = 1; i < sizes_.size(); ++i) {
    for (size_t k = i; k > 0 && liesInside(k, k - 1); --k) {
      std::swap(sizes_[k], sizes_[k - 1]);
      std::swap(strides_[k], strides_[k - 1]);
    }
  }
  joinOnly();
}

void StridedLayout::joinOnly() {
  std::vector<int64_t> sizes;
  std::vector<std::vector<int64_t>> strides;
  for (size_t dim = 0; dim < sizes_.size(); ++dim) {
    if (sizes_[dim] == 1) continue;
    bool follows = !sizes.empty();
    for (size_t k = 0; follows && k < strides_[dim].size(); ++k) {
      follows = strides_[dim][k] == sizes.back() * strides.back()[k];
    }
    if (follows) {
      sizes.back() *= sizes_[dim];
    } else {
      sizes.push_back(sizes_[dim]);
      strides.push_back(std::move(strides_[dim]));
    }
  }
  sizes_ = std::move(sizes);
  strides_ = std::move(strides);
}

int64_t StridedLayout::numel() const {
  int64_t n = 1;
  for (const int64_t size : sizes_) n *= size;
  return n;
}

int StridedLayout::innerRank(int most) const {
  int64_t n = 1;
  int dim = 0;
  for (; dim < rank() && dim < most; ++dim) {
    // Only a single dimension is split into pieces.
    if (dim > 0 && n > INT32_MAX / sizes_[static_cast<size_t>(dim)]) break;
    n *= sizes_[static_cast<size_t>(dim)];
  }
  return dim;
}

}  // namespace boxcar::cuda
