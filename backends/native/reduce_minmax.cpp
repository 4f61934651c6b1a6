#include <boxcar/backends/functors/reduce_minmax.h>
#include <boxcar/backends/meta/reduction.h>
#include <boxcar/backends/meta/views.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/reduction.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>

#include <optional>
#include <span>
#include <tuple>

// Greatest and least elements.

namespace boxcar::native {
namespace {

constexpr Reduction kAmax = makeReduction<Amax>("max", kRealAndBoolTypes);
constexpr Reduction kAmin = makeReduction<Amin>("min", kRealAndBoolTypes);
constexpr Reduction kAminmax = makeReduction<Aminmax>("aminmax", kRealAndBoolTypes);

using IntSpan = std::span<const int64_t>;

Tensor overDims(const Reduction& op, std::string_view name, const Tensor& self, IntSpan dim, bool keepdim) {
  checkDense(self);
  if (dim.empty()) meta::checkReducedDimsGiven(name, self);
  const uint64_t mask = meta::dimensionMask(dim, self.dim());
  meta::checkReducedNotEmpty(name, self, mask);
  return reduce(op, self, mask, keepdim);
}

Tensor& overDimsOut(const Reduction& op, std::string_view name, const Tensor& self, IntSpan dim, bool keepdim,
                    Tensor& out) {
  meta::checkOutType(name, out, self.scalar_type());
  return writeResult(out, overDims(op, name, self, dim, keepdim));
}

Tensor amax(const Tensor& self, IntSpan dim, bool keepdim) { return overDims(kAmax, "amax", self, dim, keepdim); }
Tensor& amaxOut(const Tensor& self, IntSpan dim, bool keepdim, Tensor& out) {
  return overDimsOut(kAmax, "amax", self, dim, keepdim, out);
}
Tensor amin(const Tensor& self, IntSpan dim, bool keepdim) { return overDims(kAmin, "amin", self, dim, keepdim); }
Tensor& aminOut(const Tensor& self, IntSpan dim, bool keepdim, Tensor& out) {
  return overDimsOut(kAmin, "amin", self, dim, keepdim, out);
}

Tensor max(const Tensor& self) { return overDims(kAmax, "max", self, {}, false); }
Tensor min(const Tensor& self) { return overDims(kAmin, "min", self, {}, false); }
Tensor& maxOut(const Tensor& self, Tensor& out) { return writeResult(out, native::max(self)); }
Tensor& minOut(const Tensor& self, Tensor& out) { return writeResult(out, native::min(self)); }

std::tuple<Tensor, Tensor> aminmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  checkDense(self);
  if (!dim.has_value()) {
    BOXCAR_CHECK(self.numel() > 0,
                 "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
                 "identity.");
    return reduceToPair(kAminmax, self, ~uint64_t{0}, keepdim);
  }
  const uint64_t mask = meta::dimensionBit(*dim, self.dim());
  meta::checkReducedNotEmpty("aminmax", self, mask);
  return reduceToPair(kAminmax, self, mask, keepdim);
}

std::tuple<Tensor&, Tensor&> aminmaxOut(const Tensor& self, std::optional<int64_t> dim, bool keepdim, Tensor& least,
                                        Tensor& greatest) {
  meta::checkOutType("aminmax", least, self.scalar_type());
  meta::checkOutType("aminmax", greatest, self.scalar_type());
  return writeSameTypes(least, greatest, native::aminmax(self, dim, keepdim), {&self});
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, runReduction) {
  m.impl("amax", BOXCAR_FN(amax));
  m.impl("amax.out", BOXCAR_FN(amaxOut));
  m.impl("amin", BOXCAR_FN(amin));
  m.impl("amin.out", BOXCAR_FN(aminOut));
  m.impl("max", BOXCAR_FN(max));
  m.impl("max.unary_out", BOXCAR_FN(maxOut));
  m.impl("min", BOXCAR_FN(min));
  m.impl("min.unary_out", BOXCAR_FN(minOut));
  m.impl("aminmax", BOXCAR_FN(aminmax));
  m.impl("aminmax.out", BOXCAR_FN(aminmaxOut));
}

}  // namespace boxcar::native
