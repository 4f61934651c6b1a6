#include <boxcar/backends/native/bincount.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <optional>

namespace boxcar::native {

constinit DeviceStub<CountNumbers> countNumbers("bincount");

namespace {

Tensor bincount(const Tensor& self, const std::optional<Tensor>& weights, int64_t minlength) {
  checkDense(self);
  BOXCAR_CHECK(!self.is_meta(),
               "bincount(): the size of the result depends on elements, which tensors on Meta have not");
  BOXCAR_CHECK(minlength >= 0, "minlength should be >= 0, but it is {}", minlength);
  BOXCAR_CHECK(self.dim() == 1 && isIntegralType(self.scalar_type(), /*includeBool=*/false),
               "bincount only supports 1-d non-negative integral inputs, found {} of sizes [{}]",
               dtypeName(self.scalar_type()), fmt::join(self.sizes(), ", "));
  const bool weighted = weights.has_value() && weights->defined();
  if (weighted) {
    checkSameDevice({&self, &*weights});
    BOXCAR_CHECK(self.numel() == 0 || (weights->dim() == 1 && weights->numel() == self.numel()),
                 "bincount(): weights should be 1-d and have the same length as input, {}, but have sizes [{}]",
                 self.numel(), fmt::join(weights->sizes(), ", "));
    BOXCAR_CHECK(!isComplexType(weights->scalar_type()), "bincount(): weights cannot be {}",
                 dtypeName(weights->scalar_type()));
  }
  const Tensor numbers = toContiguous(self, ScalarType::Long);
  // Without numbers, ignore the weights, including their type.
  if (!weighted || numbers.numel() == 0) return countNumbers(self.device(), numbers, Tensor(), minlength);
  const ScalarType type = weights->scalar_type() == ScalarType::Float ? ScalarType::Float : ScalarType::Double;
  return countNumbers(self.device(), numbers, toContiguous(*weights, type), minlength);
}

}  // namespace

void checkCounted(int64_t number) {
  BOXCAR_CHECK(number >= 0, "bincount only supports 1-d non-negative integral inputs, but there is {}", number);
  BOXCAR_CHECK(number < kMaxBins, "bincount(): maximum value {} of input overflowed, it should be < {}", number,
               kMaxBins);
}

BOXCAR_NATIVE_KERNELS_OF_DATA(aten, m, countNumbers) { m.impl("bincount", BOXCAR_FN(bincount)); }

}  // namespace boxcar::native
