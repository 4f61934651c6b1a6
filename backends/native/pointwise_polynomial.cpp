#include <boxcar/backends/functors/pointwise_polynomial.h>
#include <boxcar/backends/functors/pointwise_table.h>
#include <boxcar/backends/native/pointwise_registration.h>
#include <boxcar/backends/native/registration.h>

namespace boxcar::native {

BOXCAR_NATIVE_KERNELS(aten, m, runPointwise) {
#define BOXCAR_REGISTER_POLYNOMIAL(kind, name)                                                              \
  registerBinaryOperator<                                                                                   \
      kFunctionPointwise<"special_" name, Functor::kPolynomial, static_cast<int>(PolynomialKind::k##kind)>, \
      Polynomial<float>, kPolynomialForms>(m, Where::current());
  BOXCAR_POLYNOMIALS(BOXCAR_REGISTER_POLYNOMIAL)
#undef BOXCAR_REGISTER_POLYNOMIAL
}

}  // namespace boxcar::native
