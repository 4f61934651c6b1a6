#include <boxcar/backends/cpu/highway/vector_functions.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boxcar/backends/cpu/highway/activation_gradients.cpp"
#include <hwy/foreach_target.h>
// These headers must follow foreach_target.h.
#include <boxcar/backends/cpu/highway/exponential-inl.h>

HWY_BEFORE_NAMESPACE();
namespace boxcar::cpu::HWY_NAMESPACE {

struct SigmoidBackward {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V grad, V result) const {
    return hn::Mul(grad, hn::Mul(hn::Sub(hn::Set(d, hn::TFromD<D>(1)), result), result));
  }
};

struct TanhBackward {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V grad, V result) const {
    return hn::Mul(grad, hn::NegMulAdd(result, result, hn::Set(d, hn::TFromD<D>(1))));
  }
};

template <class T>
struct SiluBackward {
  explicit SiluBackward(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V grad, V x) const {
    const V one = hn::Set(d, hn::TFromD<D>(1));
    const V sigmoid = logistic(d, x);
    return hn::Mul(grad, hn::Mul(sigmoid, hn::MulAdd(x, hn::Sub(one, sigmoid), one)));
  }
};

// (1 + tanh(u)) / 2 is s, the sigmoid of 2u, and 1 - tanh(u)² is 4 s (1 - s).
template <class T>
struct GeluTanhBackward {
  explicit GeluTanhBackward(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V grad, V x) const {
    constexpr T kTwiceScale = T(1.595769121605730711759);  // 2 sqrt(2/pi)
    const V one = hn::Set(d, T(1));
    const V square = hn::Mul(x, x);
    const V cubic = hn::MulAdd(hn::Mul(square, x), hn::Set(d, T(0.044715)), x);
    const V s = logistic(d, hn::Mul(cubic, hn::Set(d, kTwiceScale)));
    const V slope = hn::Mul(hn::Set(d, kTwiceScale), hn::MulAdd(square, hn::Set(d, T(3 * 0.044715)), one));
    return hn::Mul(grad, hn::MulAdd(hn::Mul(x, hn::Mul(s, hn::Sub(one, s))), slope, s));
  }
};

// tanh(log(1 + e)) is n / (n + 2) for n = e * (e + 2).
template <class T>
struct MishBackward {
  explicit MishBackward(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V grad, V x) const {
    const V one = hn::Set(d, T(1));
    const V two = hn::Set(d, T(2));
    // For larger x, the factor and the sigmoid are 1.
    const V e = exponential(d, hn::Min(x, hn::Set(d, T(40))));
    const V n = hn::Mul(e, hn::Add(e, two));
    const V factor = hn::Div(n, hn::Add(n, two));
    const V sigmoid = hn::Div(e, hn::Add(one, e));
    return hn::Mul(grad, hn::MulAdd(hn::Mul(x, sigmoid), hn::NegMulAdd(factor, factor, one), factor));
  }
};

template <class T>
struct SoftplusBackward {
  T beta, threshold;
  explicit SoftplusBackward(const Scalar* params) : beta(params[0].to<T>()), threshold(params[1].to<T>()) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V grad, V x) const {
    const V scaled = hn::Mul(x, hn::Set(d, beta));
    return hn::IfThenElse(hn::Gt(scaled, hn::Set(d, threshold)), grad, hn::Mul(grad, logistic(d, scaled)));
  }
};

template <class T>
struct LogSigmoidBackward {
  explicit LogSigmoidBackward(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V grad, V x) const {
    return hn::Mul(grad, logistic(d, hn::Neg(x)));
  }
};

template <class T>
struct EluBackward {
  T negative_scale, scale, input_scale;
  bool is_result;
  explicit EluBackward(const Scalar* params)
      : negative_scale(params[0].to<T>() * params[1].to<T>()),
        scale(params[1].to<T>()),
        input_scale(params[2].to<T>()),
        is_result(params[3].toBool()) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V grad, V x) const {
    const V outer = hn::Set(d, negative_scale);
    const V inner = hn::Set(d, input_scale);
    const V power = is_result ? hn::Add(x, outer) : hn::Mul(outer, exponential(d, hn::Mul(x, inner)));
    const V slope = hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Set(d, scale), hn::Mul(inner, power));
    return hn::Mul(grad, slope);
  }
};

BOXCAR_VECTOR_BINARY_ROWS(SigmoidBackward)
BOXCAR_VECTOR_BINARY_ROWS(TanhBackward)
BOXCAR_VECTOR_LONG_BINARY_ROWS(SiluBackward)
BOXCAR_VECTOR_LONG_BINARY_ROWS(GeluTanhBackward)
BOXCAR_VECTOR_LONG_BINARY_ROWS(MishBackward)
BOXCAR_VECTOR_LONG_BINARY_ROWS(SoftplusBackward)
BOXCAR_VECTOR_LONG_BINARY_ROWS(LogSigmoidBackward)
BOXCAR_VECTOR_LONG_BINARY_ROWS(EluBackward)

}  // namespace boxcar::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boxcar::cpu {

BOXCAR_VECTOR_BINARY_DISPATCH(SigmoidBackward)
BOXCAR_VECTOR_BINARY_DISPATCH(TanhBackward)
BOXCAR_VECTOR_BINARY_DISPATCH(SiluBackward)
BOXCAR_VECTOR_BINARY_DISPATCH(GeluTanhBackward)
BOXCAR_VECTOR_BINARY_DISPATCH(MishBackward)
BOXCAR_VECTOR_BINARY_DISPATCH(SoftplusBackward)
BOXCAR_VECTOR_BINARY_DISPATCH(LogSigmoidBackward)
BOXCAR_VECTOR_BINARY_DISPATCH(EluBackward)

}  // namespace boxcar::cpu
#endif
