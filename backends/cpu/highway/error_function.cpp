#include <boxcar/backends/cpu/highway/vector_functions.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boxcar/backends/cpu/highway/error_function.cpp"
#include <hwy/foreach_target.h>
// These headers must follow foreach_target.h.
#include <boxcar/backends/cpu/highway/exponential-inl.h>

HWY_BEFORE_NAMESPACE();
namespace boxcar::cpu::HWY_NAMESPACE {

// Returns erf(x), from erf(x) / x as a rational function of x², for x² up to 15.4; the relative error is at most 2e-8.
// Beyond that, erf is 1 in float.
template <class D>
HWY_INLINE hn::Vec<D> errorFunctionFloat(D d, hn::Vec<D> x) {
  const auto limit = hn::Set(d, 3.92f);
  const auto bounded = hn::Min(hn::Max(x, hn::Neg(limit)), limit);
  const auto square = hn::Mul(bounded, bounded);
  const auto numerator = polynomial(d, square, 1.12837914916f, 0.190191035608f, 0.0527163766347f, 0.00375539134098f,
                                    0.000284480119258f, 2.04940619148e-6f);
  const auto denominator = polynomial(d, square, 1.0f, 0.501885228449f, 0.114016558542f, 0.0149488015825f,
                                      0.00115974007351f, 3.80637973173e-5f);
  const auto result = hn::Div(hn::Mul(bounded, numerator), denominator);
  const auto one = hn::Set(d, 1.0f);
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Min(hn::Max(result, hn::Neg(one)), one));
}

// Returns (1 + 2x) e^(x²) erfc(x) for x >= 0, as polynomials in (x - k) / (x + k), which maps all x to a bounded
// interval: k is 3 for float (error 3e-9, up to x = 11), 4 for double (error 1e-17, up to x = 27.5).
template <class D>
HWY_INLINE hn::Vec<D> scaledComplement(D d, hn::Vec<D> x) {
  using T = hn::TFromD<D>;
  const auto k = hn::Set(d, kIsFloat<T> ? T(3) : T(4));
  const auto t = hn::Div(hn::Sub(x, k), hn::Add(x, k));
  if constexpr (kIsFloat<T>) {
    return polynomial(d, t, 1.25300806005f, -0.135621146208f, -0.0475624965039f, 0.129646555705f, -0.119269350898f,
                      0.068295902612f, -0.0238061321251f, 0.00255966833829f, 0.00201401794037f, -0.000756990826898f,
                      -0.000260106386862f);
  } else {
    return polynomial(
        d, t, 1.2329951186255525091, -0.13962111684056286697, 0.015379652102620037349, 0.068097054254734489852,
        -0.10103906603631747281, 0.093732834996886918172, -0.06633036581218219166, 0.037167515561053640233,
        -0.016197734052986543585, 0.0050319697683995339131, -0.00075777337351460082843, -0.00019925557327160961779,
        0.00015062234120192139482, -0.000024402953705883824177, -0.000011224952833446763534, 5.7174468376581584253e-6,
        3.01470169379727329e-7, -8.3462240195737783467e-7, 6.2741787781529175857e-8, 1.1499180454805382541e-7,
        -7.8214383039109654477e-9, -1.3574524490011356739e-8, -1.776809077973111314e-9);
  }
}

// Returns erfc(x) for x >= 0. x² is represented as a sum of two numbers, because exp would amplify its rounding error.
template <class D>
HWY_INLINE hn::Vec<D> complementOfPositive(D d, hn::Vec<D> x) {
  using T = hn::TFromD<D>;
  const auto one = hn::Set(d, T(1));
  const auto bounded = hn::Min(x, hn::Set(d, kIsFloat<T> ? T(10.9) : T(27.4)));
  // The upper half of x's digits.
  const auto scaled = hn::Mul(bounded, hn::Set(d, kIsFloat<T> ? T(4097) : T(134217729)));
  const auto upper = hn::Sub(scaled, hn::Sub(scaled, bounded));
  const auto lower = hn::Sub(bounded, upper);
  const auto square = hn::Mul(bounded, bounded);
  const auto error = hn::Add(hn::Add(hn::Sub(hn::Mul(upper, upper), square), hn::Mul(hn::Add(upper, upper), lower)),
                             hn::Mul(lower, lower));
  const auto power = exponential(d, hn::Neg(square));
  const auto corrected = hn::Sub(power, hn::Mul(power, error));
  const auto divisor = hn::Add(one, hn::Add(bounded, bounded));
  return hn::Mul(hn::Div(scaledComplement(d, bounded), divisor), corrected);
}

template <class D>
HWY_INLINE hn::Vec<D> errorFunction(D d, hn::Vec<D> x) {
  using T = hn::TFromD<D>;
  if constexpr (kIsFloat<T>) {
    return errorFunctionFloat(d, x);
  } else {
    const auto one = hn::Set(d, 1.0);
    const auto size = hn::Abs(x);
    const auto square = hn::Mul(x, x);
    // A polynomial in x² for |x| up to 1, with error 1e-19.
    const auto small =
        hn::Mul(x, polynomial(d, square, 1.1283791670955125737, -0.37612638903183747603, 0.1128379167095485744,
                              -0.026866170645072886242, 0.0052239776247807875837, -0.00085483269787378046321,
                              0.00012055331036742595127, -0.000014925593503186298133, 1.6460972758728692909e-6,
                              -1.6350024617466545141e-7, 1.4657875865636699851e-8, -1.1365650980211584953e-9,
                              5.9452370976613109931e-11));
    const auto large = hn::CopySign(hn::Sub(one, complementOfPositive(d, size)), x);
    return hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenElse(hn::Lt(size, one), small, large));
  }
}

template <class T>
struct Erf {
  explicit Erf(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return errorFunction(d, x);
  }
};

template <class T>
struct Erfc {
  explicit Erfc(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V near = hn::Sub(hn::Set(d, T(1)), errorFunction(d, x));
    const V far = complementOfPositive(d, hn::Abs(x));
    const V negative = hn::Sub(hn::Set(d, T(2)), far);
    const V bounded = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), negative, far);
    return hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, T(0.5))), near, bounded));
  }
};

template <class T>
struct Gelu {
  explicit Gelu(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V scaled = hn::Mul(x, hn::Set(d, T(0.707106781186547524401)));
    const V half = hn::Mul(x, hn::Set(d, T(0.5)));
    return hn::MulAdd(half, errorFunction(d, scaled), half);
  }
};

// 0.5 x (1 + tanh(u)) is x / (1 + e^(-2u)).
template <class T>
struct GeluTanh {
  explicit GeluTanh(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    constexpr T kTwiceScale = T(1.595769121605730711759);  // 2 sqrt(2/pi)
    const V cubic = hn::MulAdd(hn::Mul(hn::Mul(x, x), x), hn::Set(d, T(0.044715)), x);
    const V power = exponential(d, hn::Mul(cubic, hn::Set(d, -kTwiceScale)));
    return hn::Div(x, hn::Add(hn::Set(d, T(1)), power));
  }
};

template <class T>
struct GeluBackward {
  explicit GeluBackward(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V grad, V x) const {
    const V half = hn::Set(d, T(0.5));
    const V distribution = hn::MulAdd(half, errorFunction(d, hn::Mul(x, hn::Set(d, T(0.707106781186547524401)))), half);
    const V density =
        hn::Mul(exponential(d, hn::Mul(hn::Mul(x, x), hn::Set(d, T(-0.5)))), hn::Set(d, T(0.398942280401432677940)));
    return hn::Mul(grad, hn::MulAdd(x, density, distribution));
  }
};

BOXCAR_VECTOR_LONG_BINARY_ROWS(GeluBackward)
BOXCAR_VECTOR_UNARY_ROWS(Erf)
BOXCAR_VECTOR_UNARY_ROWS(Erfc)
BOXCAR_VECTOR_UNARY_ROWS(Gelu)
BOXCAR_VECTOR_UNARY_ROWS(GeluTanh)

}  // namespace boxcar::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boxcar::cpu {

BOXCAR_VECTOR_BINARY_DISPATCH(GeluBackward)
BOXCAR_VECTOR_UNARY_DISPATCH(Erf)
BOXCAR_VECTOR_UNARY_DISPATCH(Erfc)
BOXCAR_VECTOR_UNARY_DISPATCH(Gelu)
BOXCAR_VECTOR_UNARY_DISPATCH(GeluTanh)

}  // namespace boxcar::cpu
#endif
