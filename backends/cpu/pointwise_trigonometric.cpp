#include <boxcar/backends/cpu/functors.h>
#include <boxcar/backends/cpu/pointwise_registration.h>
#include <boxcar/backends/cpu/pointwise_table.h>
#include <boxcar/backends/cpu/registration.h>

#include <cmath>
#include <complex>
#include <numbers>

namespace boxcar::cpu {
namespace {

template <class T>
struct Sine {
  static constexpr VectorFunction kVector = VectorFunction::kSin;
  T operator()(T a) const { return std::sin(a); }
};

template <class T>
struct Cosine {
  static constexpr VectorFunction kVector = VectorFunction::kCos;
  T operator()(T a) const { return std::cos(a); }
};

template <class T>
struct Tangent {
  static constexpr VectorFunction kVector = VectorFunction::kTan;
  T operator()(T a) const { return std::tan(a); }
};

template <class T>
struct ArcSine {
  static constexpr VectorFunction kVector = VectorFunction::kAsin;
  T operator()(T a) const { return std::asin(a); }
};

template <class T>
struct ArcCosine {
  static constexpr VectorFunction kVector = VectorFunction::kAcos;
  T operator()(T a) const { return std::acos(a); }
};

template <class T>
struct ArcTangent {
  static constexpr VectorFunction kVector = VectorFunction::kAtan;
  T operator()(T a) const { return std::atan(a); }
};

// sin(pi a) / (pi a)
template <class T>
struct CardinalSine {
  T operator()(T a) const {
    if (a == T(0)) return T(1);
    const T angle = a * static_cast<T>(std::numbers::pi);
    return std::sin(angle) / angle;
  }
};

}  // namespace

BOXCAR_CPU_AND_META(aten, m) { BOXCAR_TRIGONOMETRIC_OPERATORS(BOXCAR_REGISTER_POINTWISE) }

}  // namespace boxcar::cpu
