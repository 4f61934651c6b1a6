#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/onednn/mkldnn_tensor.h>
#include <boxcar/backends/meta/defined.h>
#include <boxcar/backends/meta/views.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/dispatcher/registry/library.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

// Conversions of tensors of layout torch._mkldnn, and what moves their elements without computing.

namespace boxcar::cpu {
namespace {

using onednn::elementsOf;
using onednn::layoutOf;
using onednn::makeMkldnn;
using onednn::plainLayout;
using onednn::toStrided;

using OptionalType = std::optional<ScalarType>;

constexpr size_t kMostMkldnnDims = 5;

// Throws Error for what a tensor of layout torch._mkldnn cannot hold.
void checkHeld(std::string_view op, std::span<const int64_t> sizes, ScalarType dtype) {
  BOXCAR_CHECK(onednn::isHeldByMkldnn(dtype),
               "{}: a tensor of layout torch._mkldnn holds float32, bfloat16, int8 or uint8, not {}; convert it first, "
               "for example with x.float()",
               op, dtypeName(dtype));
  BOXCAR_CHECK(!sizes.empty() && sizes.size() <= kMostMkldnnDims,
               "{}: a tensor of layout torch._mkldnn has 1 to {} dimensions, not {}; reshape it first", op,
               kMostMkldnnDims, sizes.size());
  BOXCAR_CHECK(std::ranges::find(sizes, 0) == sizes.end(),
               "{}: a tensor of layout torch._mkldnn has elements, but the sizes are [{}]; leave empty tensors strided",
               op, fmt::join(sizes, ", "));
}

Tensor toMkldnn(const Tensor& self, OptionalType dtype) {
  meta::checkDefined(self);
  const ScalarType type = dtype.value_or(self.scalar_type());
  checkHeld("to_mkldnn", self.sizes(), type);
  // Other types are converted first.
  const Tensor source = onednn::isHeldByMkldnn(self.scalar_type()) ? toContiguous(self) : toContiguous(self, type);
  Tensor result = makeMkldnn(plainLayout(self.sizes(), type), type);
  onednn::reorderElements(onednn::anyElementsOf(source), elementsOf(result));
  return result;
}

Tensor mkldnnToMkldnn(const Tensor& self, OptionalType dtype) {
  const ScalarType type = dtype.value_or(self.scalar_type());
  if (type == self.scalar_type()) return self.shallowCopy();
  BOXCAR_CHECK(
      onednn::isHeldByMkldnn(type),
      "a tensor of layout torch._mkldnn holds float32, bfloat16, int8 or uint8, not {0}; x.to_dense({0}) returns "
      "a strided tensor",
      dtypeName(type));
  return toMkldnn(toStrided(self, type), type);
}

Tensor mkldnnToDense(const Tensor& self, OptionalType dtype, std::optional<bool> /*masked_grad*/) {
  return toStrided(self, dtype.value_or(self.scalar_type()));
}

Tensor emptyMkldnn(std::span<const int64_t> size, OptionalType dtype, std::optional<Layout> /*layout*/,
                   std::optional<Device> device, std::optional<bool> pin_memory,
                   std::optional<MemoryFormat> memory_format) {
  const ScalarType type = dtype.value_or(ScalarType::Float);
  BOXCAR_CHECK(!device.has_value() || device->is_cpu(), "a tensor of layout torch._mkldnn is on the CPU, not on '{}'",
               toString(*device));
  BOXCAR_CHECK(!pin_memory.value_or(false) && !memory_format.has_value(),
               "a tensor of layout torch._mkldnn has neither pinned memory nor a memory format");
  checkHeld("empty", size, type);
  return makeMkldnn(plainLayout(size, type), type);
}

Tensor mkldnnClone(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  BOXCAR_CHECK(memory_format.value_or(MemoryFormat::Preserve) == MemoryFormat::Preserve ||
                   *memory_format == MemoryFormat::Contiguous,
               "a tensor of layout torch._mkldnn has no memory format {}; x.to_dense() returns a strided tensor",
               memoryFormatName(*memory_format));
  Tensor copy = makeMkldnn(layoutOf(self), self.sizes(), self.scalar_type());
  std::memcpy(elementsOf(copy).get_data_handle(), elementsOf(self).get_data_handle(), layoutOf(self).get_size());
  return copy;
}

// One of the tensors may be strided.
Tensor& mkldnnCopy(Tensor& self, const Tensor& src, bool /*non_blocking*/) {
  meta::checkDefined(self);
  meta::checkDefined(src);
  BOXCAR_CHECK(std::ranges::equal(self.sizes(), src.sizes()),
               "copy_: tensors of layout torch._mkldnn do not broadcast, but the sizes are [{}] and [{}]",
               fmt::join(self.sizes(), ", "), fmt::join(src.sizes(), ", "));
  BOXCAR_CHECK(self.is_cpu() && src.is_cpu(),
               "copy_: a tensor of layout torch._mkldnn is copied on the CPU only; copy x.to_dense()");
  if (!self.is_mkldnn()) {
    copyElements(self, toStrided(src, src.scalar_type()));
    return self;
  }
  const Tensor dense = toStrided(src, self.scalar_type());
  const dnnl::memory::dims dims = layoutOf(self).dims();
  onednn::reorderElements(onednn::memoryOf(dense, plainLayout(dims, self.scalar_type())), elementsOf(self));
  return self;
}

Tensor mkldnnToCopy(const Tensor& self, OptionalType dtype, std::optional<Layout> layout, std::optional<Device> device,
                    std::optional<bool> pin_memory, bool /*non_blocking*/, std::optional<MemoryFormat> memory_format) {
  BOXCAR_CHECK((!device.has_value() || device->is_cpu()) && !pin_memory.value_or(false),
               "a tensor of layout torch._mkldnn stays in the CPU's memory; move x.to_dense()");
  const ScalarType type = dtype.value_or(self.scalar_type());
  if (layout == Layout::Strided) return toStrided(self, type);
  const Tensor copy = mkldnnClone(self, memory_format);
  return type == self.scalar_type() ? copy : mkldnnToMkldnn(copy, type);
}

Tensor& mkldnnZero(Tensor& self) {
  std::memset(elementsOf(self).get_data_handle(), 0, layoutOf(self).get_size());
  return self;
}

Tensor mkldnnAlias(const Tensor& self) { return self.shallowCopy(); }

Tensor mkldnnReshape(const Tensor& self, std::span<const int64_t> shape) {
  const DimVector sizes = meta::inferSizes(shape, self.numel());
  checkHeld("reshape", sizes, self.scalar_type());
  Tensor result = makeMkldnn(plainLayout(sizes, self.scalar_type()), self.scalar_type());
  const dnnl::memory::dims dims = layoutOf(self).dims();
  const dnnl::memory flat(plainLayout(dims, self.scalar_type()), onednn::engine(),
                          elementsOf(result).get_data_handle());
  onednn::reorderElements(elementsOf(self), flat);
  return result;
}

Tensor mkldnnTranspose(const Tensor& self, int64_t dim0, int64_t dim1) {
  const auto first = static_cast<size_t>(wrapDimension(dim0, self.dim()));
  const auto second = static_cast<size_t>(wrapDimension(dim1, self.dim()));
  DimVector sizes = toDimVector(self.sizes());
  std::swap(sizes[first], sizes[second]);
  const Tensor source = onednn::withOwnSizes(self);
  Tensor result = makeMkldnn(plainLayout(sizes, self.scalar_type()), self.scalar_type());
  // The result's memory, described in the order of the source's dimensions.
  dnnl::memory::dims strides(sizes.size());
  contiguousStrides(sizes, strides);
  std::swap(strides[first], strides[second]);
  const dnnl::memory::desc turned({self.sizes().begin(), self.sizes().end()}, onednn::dataTypeOf(self.scalar_type()),
                                  strides);
  onednn::reorderElements(elementsOf(source), {turned, onednn::engine(), elementsOf(result).get_data_handle()});
  return result;
}

Tensor mkldnnT(const Tensor& self) {
  BOXCAR_CHECK(self.dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is {}D", self.dim());
  return self.dim() < 2 ? self.shallowCopy() : mkldnnTranspose(self, 0, 1);
}

Tensor mkldnnView(const Tensor& /*self*/, std::span<const int64_t> /*size*/) {
  BOXCAR_FAIL("view: a tensor of layout torch._mkldnn has no views; use reshape, which copies");
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CPU, m) { m.impl("to_mkldnn", BOXCAR_FN(toMkldnn)); }

BOXCAR_LIBRARY_IMPL(aten, MkldnnCPU, m) {
  m.impl("to_mkldnn", BOXCAR_FN(mkldnnToMkldnn));
  m.impl("_to_dense", BOXCAR_FN(mkldnnToDense));
  m.impl("empty.memory_format", BOXCAR_FN(emptyMkldnn));
  m.impl("clone", BOXCAR_FN(mkldnnClone));
  m.impl("copy_", BOXCAR_FN(mkldnnCopy));
  m.impl("_to_copy", BOXCAR_FN(mkldnnToCopy));
  m.impl("zero_", BOXCAR_FN(mkldnnZero));
  m.impl("alias", BOXCAR_FN(mkldnnAlias));
  m.impl("detach", BOXCAR_FN(mkldnnAlias));
  m.impl("_mkldnn_reshape", BOXCAR_FN(mkldnnReshape));
  m.impl("_mkldnn_transpose", BOXCAR_FN(mkldnnTranspose));
  m.impl("transpose.int", BOXCAR_FN(mkldnnTranspose));
  m.impl("t", BOXCAR_FN(mkldnnT));
  m.impl("view", BOXCAR_FN(mkldnnView));
}

}  // namespace boxcar::cpu
