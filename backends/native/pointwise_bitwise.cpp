#include <boxcar/backends/functors/pointwise_bitwise.h>
#include <boxcar/backends/functors/pointwise_table.h>
#include <boxcar/backends/native/pointwise_registration.h>
#include <boxcar/backends/native/registration.h>

#include <cstdint>
#include <type_traits>

namespace boxcar::native {
namespace {

// The in-place shift operators have their own names rather than the functional names with a `_`.
template <Name name, const Pointwise& op>
void registerShiftInPlace(Library& m) {
  using Tensors = Kernels<op, void, Arguments<const Tensor&, const Tensor&>, Arguments<>>;
  using WithNumber = Kernels<op, void, Arguments<const Tensor&, const Scalar&>, Arguments<>>;
  const std::string text(name.view());
  m.impl(text + ".Tensor", BOXCAR_FN(Tensors::inPlace));
  m.impl(text + ".Scalar", BOXCAR_FN(WithNumber::inPlace));
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, runPointwise) {
  BOXCAR_REGISTER_POINTWISE(BOXCAR_BITWISE_TABLE, m)
  registerShiftInPlace<"__ilshift__", kPointwise<"__lshift__", LeftShift, 2, Result::kSame, kIntegralTypes>>(m);
  registerShiftInPlace<"__irshift__", kPointwise<"__rshift__", RightShift, 2, Result::kSame, kIntegralTypes>>(m);
}

}  // namespace boxcar::native
