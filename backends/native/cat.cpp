#include <boxcar/backends/meta/join.h>
#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/meta/output.h>
#include <boxcar/backends/native/cat.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace boxcar::native {

constinit DeviceStub<JoinRows> joinRows("cat");

namespace {

meta::Joined checkedJoin(TensorList tensors, int64_t dim) {
  for (const Tensor& tensor : tensors) {
    checkDense(tensor);
    meta::checkSameDevice(tensors[0].device(), tensor.device());
  }
  return meta::joinAlong(tensors, dim);
}

// Returns the dimensions of [out] from the outermost one in memory to the innermost.
DimVector memoryOrder(const Tensor& out) {
  DimVector order;
  for (int64_t i = 0; i < out.dim(); ++i) order.push_back(i);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](int64_t dim) { return out.strides()[static_cast<size_t>(dim)]; });
  return order;
}

Tensor permuted(const Tensor& tensor, const DimVector& order) {
  DimVector sizes;
  DimVector strides;
  for (const int64_t dim : order) {
    sizes.push_back(tensor.sizes()[static_cast<size_t>(dim)]);
    strides.push_back(tensor.strides()[static_cast<size_t>(dim)]);
  }
  return tensor.view(sizes, strides, tensor.storage_offset());
}

// Joins tensors that lie in the order of [out], such as images whose channels are adjacent. Returns false if they do
// not.
bool joinInOrder(const Tensor& out, TensorList tensors, const meta::Joined& joined) {
  const auto joinIfDense = [&](const Tensor& to, TensorList from, const meta::Joined& dims) {
    const auto lies_in_order = [&](const Tensor& tensor) {
      return tensor.is_contiguous() && tensor.scalar_type() == out.scalar_type();
    };
    return to.is_contiguous() && std::ranges::all_of(from, lies_in_order) && joinRows(out.device(), to, from, dims);
  };
  if (out.is_contiguous()) return joinIfDense(out, tensors, joined);
  const DimVector order = memoryOrder(out);
  const Tensor to = permuted(out, order);
  if (!to.is_contiguous()) return false;
  std::vector<Tensor> parts;
  parts.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    if (!meta::isLegacyEmpty(tensor)) parts.push_back(permuted(tensor, order));
  }
  meta::Joined inner = joined;
  for (size_t i = 0; i < order.size(); ++i) {
    inner.sizes[i] = joined.sizes[static_cast<size_t>(order[i])];
    inner.strides[i] = joined.strides[static_cast<size_t>(order[i])];
    if (static_cast<size_t>(order[i]) == joined.dim) inner.dim = i;
  }
  return joinIfDense(to, parts, inner);
}

void writeParts(const Tensor& out, TensorList tensors, const meta::Joined& joined) {
  if (out.is_meta() || out.numel() == 0) return;
  if (joinInOrder(out, tensors, joined)) return;
  DimVector sizes = joined.sizes;
  int64_t offset = out.storage_offset();
  for (const Tensor& tensor : tensors) {
    if (meta::isLegacyEmpty(tensor)) continue;
    sizes[joined.dim] = tensor.sizes()[joined.dim];
    copyElements(out.view(sizes, out.strides(), offset), tensor);
    offset += sizes[joined.dim] * out.strides()[joined.dim];
  }
}

Tensor cat(TensorList tensors, int64_t dim) {
  const meta::Joined joined = checkedJoin(tensors, dim);
  const Tensor out = meta::allocateStrided(joined.sizes, joined.strides, joined.dtype, tensors[0].device());
  writeParts(out, tensors, joined);
  return out;
}

Tensor& catOut(TensorList tensors, int64_t dim, Tensor& out) {
  const meta::Joined joined = checkedJoin(tensors, dim);
  checkDense(out);
  const meta::Output output{out,          joined.sizes,        joined.strides,
                            joined.dtype, tensors[0].device(), meta::OutputType::kCastable};
  meta::checkOutput(output);
  for (size_t i = 0; i < tensors.size(); ++i) {
    BOXCAR_CHECK(meta::sharedWith(output, tensors[i]) == meta::Shared::kNothing,
                 "unsupported operation: the input tensors cannot refer to any of the output memory locations. Found "
                 "overlap in input tensor {}. Please clone() it before performing the operation.",
                 i);
  }
  resizeOutput(output);
  writeParts(out, tensors, joined);
  return out;
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, copyOnDevice, joinRows) {
  m.impl("cat", BOXCAR_FN(cat));
  m.impl("cat.out", BOXCAR_FN(catOut));
}

}  // namespace boxcar::native
