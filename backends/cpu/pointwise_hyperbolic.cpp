#include <boxcar/backends/cpu/functors.h>
#include <boxcar/backends/cpu/pointwise_registration.h>
#include <boxcar/backends/cpu/pointwise_table.h>
#include <boxcar/backends/cpu/registration.h>

#include <cmath>
#include <complex>

namespace boxcar::cpu {
namespace {

template <class T>
struct HyperbolicSine {
  static constexpr VectorFunction kVector = VectorFunction::kSinh;
  T operator()(T a) const { return std::sinh(a); }
};

template <class T>
struct HyperbolicCosine {
  static constexpr VectorFunction kVector = VectorFunction::kCosh;
  T operator()(T a) const { return std::cosh(a); }
};

template <class T>
struct HyperbolicTangent {
  static constexpr VectorFunction kVector = VectorFunction::kTanh;
  T operator()(T a) const { return std::tanh(a); }
};

template <class T>
struct ArcHyperbolicSine {
  static constexpr VectorFunction kVector = VectorFunction::kAsinh;
  T operator()(T a) const { return std::asinh(a); }
};

template <class T>
struct ArcHyperbolicCosine {
  static constexpr VectorFunction kVector = VectorFunction::kAcosh;
  T operator()(T a) const { return std::acosh(a); }
};

template <class T>
struct ArcHyperbolicTangent {
  static constexpr VectorFunction kVector = VectorFunction::kAtanh;
  T operator()(T a) const { return std::atanh(a); }
};

}  // namespace

BOXCAR_CPU_AND_META(aten, m) { BOXCAR_HYPERBOLIC_OPERATORS(BOXCAR_REGISTER_POINTWISE) }

}  // namespace boxcar::cpu
