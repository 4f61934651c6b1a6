#include <boxcar/backends/cpu/functors.h>
#include <boxcar/backends/cpu/pointwise_registration.h>
#include <boxcar/backends/cpu/pointwise_table.h>
#include <boxcar/backends/cpu/registration.h>

#include <cmath>
#include <complex>
#include <optional>

namespace boxcar::cpu {
namespace {

template <class T>
struct Exponential {
  static constexpr VectorFunction kVector = VectorFunction::kExp;
  T operator()(T a) const { return std::exp(a); }
};

template <class T>
struct PowerOfTwo {
  static constexpr VectorFunction kVector = VectorFunction::kExp2;
  T operator()(T a) const { return std::exp2(a); }
};

template <class T>
struct ExponentialLessOne {
  static constexpr VectorFunction kVector = VectorFunction::kExpm1;
  T operator()(T a) const { return std::expm1(a); }
};

template <class T>
struct Logarithm {
  static constexpr VectorFunction kVector = VectorFunction::kLog;
  T operator()(T a) const { return std::log(a); }
};

template <class T>
struct BinaryLogarithm {
  static constexpr VectorFunction kVector = VectorFunction::kLog2;
  T operator()(T a) const {
    if constexpr (kIsComplex<T>) {
      return std::log(a) / T(std::log(RealOf<T>(2)));
    } else {
      return std::log2(a);
    }
  }
};

template <class T>
struct DecimalLogarithm {
  static constexpr VectorFunction kVector = VectorFunction::kLog10;
  T operator()(T a) const { return std::log10(a); }
};

template <class T>
struct LogarithmOfOneMore {
  static constexpr VectorFunction kVector = VectorFunction::kLog1p;
  T operator()(T a) const { return std::log1p(a); }
};

// log(a / (1 - a)) of a, which is first brought between eps and 1 - eps when there is an eps.
template <class T>
struct Logit {
  using Parameters = Arguments<std::optional<double>>;
  static constexpr VectorFunction kVector = VectorFunction::kLogit;
  bool bounded;
  T low;
  explicit Logit(const Scalar* params) : bounded(!params->isBoolean()), low(bounded ? params->to<T>() : T(0)) {}
  T operator()(T a) const {
    if (bounded) a = a < low ? low : (a > T(1) - low ? T(1) - low : a);
    return std::log(a / (T(1) - a));
  }
};

template <class T>
struct SquareRoot {
  static constexpr VectorFunction kVector = VectorFunction::kSquareRoot;
  T operator()(T a) const { return std::sqrt(a); }
};

template <class T>
struct ReciprocalSquareRoot {
  static constexpr VectorFunction kVector = VectorFunction::kReciprocalSquareRoot;
  T operator()(T a) const { return divideElements(T(1), std::sqrt(a)); }
};

template <class T>
struct Reciprocal {
  static constexpr VectorFunction kVector = VectorFunction::kReciprocal;
  T operator()(T a) const { return divideElements(T(1), a); }
};

template <class T>
struct Sigmoid {
  static constexpr VectorFunction kVector = VectorFunction::kSigmoid;
  T operator()(T a) const { return T(1) / (T(1) + std::exp(-a)); }
};

}  // namespace

BOXCAR_CPU_AND_META(aten, m) { BOXCAR_EXPONENTIAL_OPERATORS(BOXCAR_REGISTER_POINTWISE) }

}  // namespace boxcar::cpu
