#include <boxcar/backends/meta/sorting.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/indexed_loop.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/scan.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>

#include <optional>
#include <string_view>
#include <tuple>

namespace boxcar::native {

constinit DeviceStub<ScanLines> scanLines("cumsum");
constinit DeviceStub<ScanExtremes> scanExtremes("cummax");

namespace {

using OptionalType = std::optional<ScalarType>;

// Returns the scan of [self], with the same dtype.
Tensor scanAlong(std::string_view name, Scan scan, const Tensor& self, int64_t dim) {
  Tensor result = Tensor::allocate(self.sizes(), self.scalar_type(), self.device());
  if (self.is_meta() || self.numel() == 0) return result;
  scanLines(self.device(), name, scan, withDimension(result), withDimension(self), static_cast<size_t>(dim));
  return result;
}

Tensor scanAs(std::string_view name, Scan scan, const Tensor& self, int64_t dim, ScalarType dtype) {
  checkDense(self);
  const int64_t along = wrapDimension(dim, self.dim());
  return scanAlong(name, scan, self.scalar_type() == dtype ? self : convertTo(self, dtype), along);
}

// Sums of integers and bools are int64.
ScalarType sumType(const Tensor& self, OptionalType dtype) {
  if (dtype.has_value()) return *dtype;
  return isIntegralType(self.scalar_type(), /*includeBool=*/true) ? ScalarType::Long : self.scalar_type();
}

// The kernels of cumsum and cumprod. With an out= argument, its dtype is the one to compute in, unless [dtype] is
// given.
template <Scan scan, auto name>
struct Cumulative {
  static Tensor functional(const Tensor& self, int64_t dim, OptionalType dtype) {
    return scanAs(name(), scan, self, dim, sumType(self, dtype));
  }
  static Tensor& out(const Tensor& self, int64_t dim, OptionalType dtype, Tensor& out) {
    return writeSameType(out, scanAs(name(), scan, self, dim, dtype.value_or(out.scalar_type())), {&self},
                         Overlap::kSame);
  }
  static Tensor& inPlace(Tensor& self, int64_t dim, OptionalType dtype) {
    BOXCAR_CHECK(!dtype.has_value() || *dtype == self.scalar_type(),
                 "Bad in-place call: {}_(): input tensor dtype {} and output tensor dtype {} should match", name(),
                 self.scalar_type(), *dtype);
    return out(self, dim, dtype, self);
  }
};

using CumulativeSum = Cumulative<Scan::kSum, [] { return std::string_view("cumsum"); }>;
using CumulativeProduct = Cumulative<Scan::kProd, [] { return std::string_view("cumprod"); }>;

template <bool greatest>
struct CumulativeExtreme {
  static std::tuple<Tensor, Tensor> functional(const Tensor& self, int64_t dim) {
    checkDense(self);
    meta::checkOrdered(greatest ? "cummax" : "cummin", self);
    const auto along = static_cast<size_t>(wrapDimension(dim, self.dim()));
    Tensor values = Tensor::allocate(self.sizes(), self.scalar_type(), self.device());
    Tensor indices = Tensor::allocate(self.sizes(), ScalarType::Long, self.device());
    if (self.is_meta() || self.numel() == 0) return {values, indices};
    scanExtremes(self.device(), greatest, withDimension(values), withDimension(indices), withDimension(self), along);
    return {values, indices};
  }

  static std::tuple<Tensor&, Tensor&> out(const Tensor& self, int64_t dim, Tensor& values, Tensor& indices) {
    return writeSameTypes(values, indices, functional(self, dim), {}, Overlap::kAllowed);
  }
};

Tensor logcumsumexp(const Tensor& self, int64_t dim) {
  checkDense(self);
  const int64_t along = wrapDimension(dim, self.dim());
  BOXCAR_CHECK(isFloatingType(self.scalar_type()) || self.is_complex(),
               "logcumsumexp(): elements of {} are not supported, only floating point and complex",
               dtypeName(self.scalar_type()));
  return scanAlong("logcumsumexp", Scan::kLogSumExp, self, along);
}

Tensor& logcumsumexpOut(const Tensor& self, int64_t dim, Tensor& out) {
  return writeSameType(out, native::logcumsumexp(self, dim), {&self}, Overlap::kSame);
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, scanLines, scanExtremes) {
  m.impl("cumsum", BOXCAR_FN(CumulativeSum::functional));
  m.impl("cumsum_", BOXCAR_FN(CumulativeSum::inPlace));
  m.impl("cumsum.out", BOXCAR_FN(CumulativeSum::out));
  m.impl("cumprod", BOXCAR_FN(CumulativeProduct::functional));
  m.impl("cumprod_", BOXCAR_FN(CumulativeProduct::inPlace));
  m.impl("cumprod.out", BOXCAR_FN(CumulativeProduct::out));
  m.impl("cummax", BOXCAR_FN(CumulativeExtreme<true>::functional));
  m.impl("cummax.out", BOXCAR_FN(CumulativeExtreme<true>::out));
  m.impl("cummin", BOXCAR_FN(CumulativeExtreme<false>::functional));
  m.impl("cummin.out", BOXCAR_FN(CumulativeExtreme<false>::out));
  m.impl("logcumsumexp", BOXCAR_FN(logcumsumexp));
  m.impl("logcumsumexp.out", BOXCAR_FN(logcumsumexpOut));
}

}  // namespace boxcar::native
