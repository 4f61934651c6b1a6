#include <boxcar/backends/functors/reduce_logic.h>
#include <boxcar/backends/meta/views.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/reduction.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>

#include <optional>
#include <span>

// Whether any element, or every element, is not zero.

namespace boxcar::native {
namespace {

constexpr Reduction kAny = makeReduction<Any>("any", kAllTypes);
constexpr Reduction kAll = makeReduction<All>("all", kAllTypes);

using OptionalDims = std::optional<std::span<const int64_t>>;

Tensor overMask(const Reduction& op, const Tensor& self, uint64_t mask, bool keepdim) {
  checkDense(self);
  return reduce(op, self, mask, keepdim);
}

template <const Reduction& op>
Tensor truth(const Tensor& self) {
  return overMask(op, self, ~uint64_t{0}, false);
}
template <const Reduction& op>
Tensor truthOverDim(const Tensor& self, int64_t dim, bool keepdim) {
  return overMask(op, self, meta::dimensionBit(dim, self.dim()), keepdim);
}
template <const Reduction& op>
Tensor truthOverDims(const Tensor& self, OptionalDims dim, bool keepdim) {
  return overMask(op, self, meta::dimensionMask(dim.value_or(std::span<const int64_t>()), self.dim()), keepdim);
}

Tensor& write(const Reduction& op, Tensor& out, const Tensor& result) {
  BOXCAR_CHECK(out.scalar_type() == ScalarType::Bool || out.scalar_type() == ScalarType::Byte,
               "{} only supports bool tensor for result, got: {}", op.name, dtypeName(out.scalar_type()));
  return writeResult(out, convertTo(result, out.scalar_type()));
}

template <const Reduction& op>
Tensor& truthOut(const Tensor& self, Tensor& out) {
  return write(op, out, truth<op>(self));
}
template <const Reduction& op>
Tensor& truthOverDimOut(const Tensor& self, int64_t dim, bool keepdim, Tensor& out) {
  return write(op, out, truthOverDim<op>(self, dim, keepdim));
}
template <const Reduction& op>
Tensor& truthOverDimsOut(const Tensor& self, OptionalDims dim, bool keepdim, Tensor& out) {
  return write(op, out, truthOverDims<op>(self, dim, keepdim));
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, runReduction) {
  m.impl("any", BOXCAR_FN(truth<kAny>));
  m.impl("any.dim", BOXCAR_FN(truthOverDim<kAny>));
  m.impl("any.dims", BOXCAR_FN(truthOverDims<kAny>));
  m.impl("any.all_out", BOXCAR_FN(truthOut<kAny>));
  m.impl("any.out", BOXCAR_FN(truthOverDimOut<kAny>));
  m.impl("any.dims_out", BOXCAR_FN(truthOverDimsOut<kAny>));
  m.impl("all", BOXCAR_FN(truth<kAll>));
  m.impl("all.dim", BOXCAR_FN(truthOverDim<kAll>));
  m.impl("all.dims", BOXCAR_FN(truthOverDims<kAll>));
  m.impl("all.all_out", BOXCAR_FN(truthOut<kAll>));
  m.impl("all.out", BOXCAR_FN(truthOverDimOut<kAll>));
  m.impl("all.dims_out", BOXCAR_FN(truthOverDimsOut<kAll>));
}

}  // namespace boxcar::native
