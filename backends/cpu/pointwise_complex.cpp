#include <boxcar/backends/cpu/copy.h>
#include <boxcar/backends/cpu/functors.h>
#include <boxcar/backends/cpu/pointwise_registration.h>
#include <boxcar/backends/cpu/pointwise_table.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/ivalue/error.h>

#include <cmath>
#include <complex>
#include <numbers>

namespace boxcar::cpu {
namespace {

// The angle to the positive real axis.
template <class T>
struct Argument {
  RealOf<T> operator()(T a) const {
    if constexpr (kIsComplex<T>) {
      return std::arg(a);
    } else {
      if (isNan(a)) return a;
      return a < T(0) ? static_cast<T>(std::numbers::pi) : T(0);
    }
  }
};

template <class T>
struct Conjugate {
  T operator()(T a) const {
    if constexpr (kIsComplex<T>) {
      return std::conj(a);
    } else {
      return a;
    }
  }
};

void checkParts(const Tensor& a, const Tensor& b) {
  for (const Tensor* part : {&a, &b}) {
    BOXCAR_CHECK(part->scalar_type() == ScalarType::Float || part->scalar_type() == ScalarType::Double,
                 "Expected both inputs to be Float or Double tensors but got {} and {}", a.scalar_type(),
                 b.scalar_type());
  }
  BOXCAR_CHECK(a.scalar_type() == b.scalar_type(),
               "Expected object of scalar type {} but got scalar type {} for second argument", a.scalar_type(),
               b.scalar_type());
}

template <class T>
struct FromParts {
  static void check(const Tensor& real, const Tensor& imag) { checkParts(real, imag); }
  std::complex<T> operator()(T real, T imag) const { return {real, imag}; }
};

template <class T>
struct FromPolar {
  static void check(const Tensor& abs, const Tensor& angle) { checkParts(abs, angle); }
  std::complex<T> operator()(T abs, T angle) const { return {abs * std::cos(angle), abs * std::sin(angle)}; }
};

constexpr const Pointwise& kAngle = kPointwise<"angle", Argument, 1, Result::kFloatReal, kContinuousTypes>;

// The angles of complex numbers are contiguous.
Tensor angle(const Tensor& self) { return pointwise(kAngle, {self.is_complex() ? toContiguous(self) : self}); }

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  BOXCAR_COMPLEX_OPERATORS(BOXCAR_REGISTER_POINTWISE)
  m.impl("angle", BOXCAR_FN(angle));
}

}  // namespace boxcar::cpu
