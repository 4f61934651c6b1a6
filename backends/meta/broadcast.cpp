#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>

namespace boxcar::meta {

DimVector broadcast(std::span<const int64_t> a, std::span<const int64_t> b) {
  const size_t rank = std::max(a.size(), b.size());
  DimVector sizes(rank, boost::container::default_init);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t size_a = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
    const int64_t size_b = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    BOXCAR_CHECK(size_a == size_b || size_a == 1 || size_b == 1,
                 "The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension {}", size_a,
                 size_b, i);
    sizes[i] = size_a == 1 ? size_b : size_a;
  }
  return sizes;
}

bool tryBroadcast(DimVector& sizes, std::span<const int64_t> other) {
  if (other.size() > sizes.size()) sizes.insert(sizes.begin(), other.size() - sizes.size(), 1);
  return std::equal(other.rbegin(), other.rend(), sizes.rbegin(), [](int64_t from, int64_t& size) {
    const bool matches = from == size || from == 1 || size == 1;
    if (size == 1) size = from;
    return matches;
  });
}

bool isExpandable(std::span<const int64_t> sizes, std::span<const int64_t> to) {
  if (sizes.size() > to.size()) return false;
  return std::equal(sizes.rbegin(), sizes.rend(), to.rbegin(),
                    [](int64_t from, int64_t size) { return from == size || from == 1; });
}

DimVector expandStrides(std::span<const int64_t> sizes, std::span<const int64_t> strides, DimVector& target) {
  BOXCAR_CHECK(target.size() >= sizes.size(),
               "expand: the number of sizes given ([{}]) must be at least the number of dimensions of the tensor "
               "([{}])",
               fmt::join(target, ", "), fmt::join(sizes, ", "));
  const size_t added = target.size() - sizes.size();
  DimVector result(target.size(), 0);
  for (size_t i = 0; i < target.size(); ++i) {
    if (i < added) {
      BOXCAR_CHECK(target[i] >= 0,
                   "The expanded size of the tensor ({}) isn't allowed in a leading, non-existing dimension {}",
                   target[i], i);
      continue;
    }
    const int64_t size = sizes[i - added];
    if (target[i] == -1) target[i] = size;
    BOXCAR_CHECK(target[i] == size || size == 1,
                 "The expanded size of the tensor ({}) must match the existing size ({}) at non-singleton dimension "
                 "{}.  Target sizes: [{}].  Tensor sizes: [{}]",
                 target[i], size, i, fmt::join(target, ", "), fmt::join(sizes, ", "));
    result[i] = target[i] == size ? strides[i - added] : 0;
  }
  return result;
}

Tensor expandTo(const Tensor& tensor, std::span<const int64_t> sizes) {
  DimVector target = toDimVector(sizes);
  const DimVector strides = expandStrides(tensor.sizes(), tensor.strides(), target);
  return tensor.view(target, strides, tensor.storage_offset());
}

}  // namespace boxcar::meta
