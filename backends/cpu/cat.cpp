#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/shape/join.h>
#include <boxcar/backends/shape/layout.h>
#include <boxcar/backends/shape/output.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace boxcar::cpu {
namespace {

shape::Joined checkedJoin(TensorList tensors, int64_t dim) {
  for (const Tensor& tensor : tensors) {
    checkCpuOrMeta(tensor);
    shape::checkSameDevice(tensors[0].device(), tensor.device());
  }
  return shape::joinAlong(tensors, dim);
}

// Of tensors whose elements lie in order: from each the bytes of one index of the dimensions outside, in turn.
void writeRows(const Tensor& out, TensorList tensors, const shape::Joined& joined) {
  size_t inner = out.itemsize();
  for (size_t i = joined.dim + 1; i < joined.sizes.size(); ++i) inner *= static_cast<size_t>(joined.sizes[i]);
  const size_t row = inner * static_cast<size_t>(joined.sizes[joined.dim]);
  const auto rows = static_cast<int64_t>(out.nbytes() / row);
  const auto elements = static_cast<int64_t>(row / out.itemsize());
  auto* const to = static_cast<std::byte*>(out.data_ptr());
  parallelFor(0, rows, std::max<int64_t>(1, kParallelGrain / elements), [&](int64_t begin, int64_t end) {
    std::byte* next = to + static_cast<size_t>(begin) * row;
    for (int64_t i = begin; i < end; ++i) {
      for (const Tensor& tensor : tensors) {
        if (tensor.numel() == 0) continue;
        const size_t part = inner * static_cast<size_t>(tensor.sizes()[joined.dim]);
        std::memcpy(next, static_cast<const std::byte*>(tensor.data_ptr()) + static_cast<size_t>(i) * part, part);
        next += part;
      }
    }
  });
}

void writeParts(const Tensor& out, TensorList tensors, const shape::Joined& joined) {
  if (out.is_meta() || out.numel() == 0) return;
  const auto lies_in_order = [&](const Tensor& tensor) {
    return tensor.is_contiguous() && tensor.scalar_type() == out.scalar_type();
  };
  // A single row of long parts is better shared between threads part by part.
  const bool few_rows = joined.dim == 0 && out.numel() >= kParallelGrain;
  if (!few_rows && out.is_contiguous() && std::ranges::all_of(tensors, lies_in_order)) {
    return writeRows(out, tensors, joined);
  }
  DimVector sizes = joined.sizes;
  int64_t offset = out.storage_offset();
  for (const Tensor& tensor : tensors) {
    if (shape::isLegacyEmpty(tensor)) continue;
    sizes[joined.dim] = tensor.sizes()[joined.dim];
    copyElements(out.view(sizes, out.strides(), offset), tensor);
    offset += sizes[joined.dim] * out.strides()[joined.dim];
  }
}

Tensor cat(TensorList tensors, int64_t dim) {
  const shape::Joined joined = checkedJoin(tensors, dim);
  const Tensor out = shape::allocateStrided(joined.sizes, joined.strides, joined.dtype, tensors[0].device());
  writeParts(out, tensors, joined);
  return out;
}

Tensor& catOut(TensorList tensors, int64_t dim, Tensor& out) {
  const shape::Joined joined = checkedJoin(tensors, dim);
  checkCpuOrMeta(out);
  shape::checkOutputDevice(out, tensors[0].device());
  BOXCAR_CHECK(canCast(joined.dtype, out.scalar_type()), "result type {} can't be cast to the desired output type {}",
               joined.dtype, out.scalar_type());
  const bool fits = std::ranges::equal(out.sizes(), joined.sizes);
  if (fits) checkNoInternalOverlap(out);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const bool shares = out.numel() > 0 && tensors[i].numel() > 0 && tensors[i].storage() == out.storage();
    if (!shares || out.is_meta()) continue;
    BOXCAR_CHECK(!tensors[i].is_same(out),
                 "unsupported operation: the input tensors cannot refer to any of the output memory locations. Found "
                 "overlap in input tensor {}",
                 i);
    checkNoPartialOverlap(out, tensors[i]);
  }
  if (!fits) {
    resizeOutput(out, joined.sizes);
    out.unsafeGetTensorImpl()->setShape(joined.sizes, joined.strides, out.storage_offset());
  }
  writeParts(out, tensors, joined);
  out.storage()->bumpVersion();
  return out;
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  m.impl("cat", BOXCAR_FN(cat));
  m.impl("cat.out", BOXCAR_FN(catOut));
}

}  // namespace boxcar::cpu
