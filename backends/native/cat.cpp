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

void writeParts(const Tensor& out, TensorList tensors, const meta::Joined& joined) {
  if (out.is_meta() || out.numel() == 0) return;
  const auto lies_in_order = [&](const Tensor& tensor) {
    return tensor.is_contiguous() && tensor.scalar_type() == out.scalar_type();
  };
  if (out.is_contiguous() && std::ranges::all_of(tensors, lies_in_order) &&
      joinRows(out.device(), out, tensors, joined)) {
    return;
  }
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
