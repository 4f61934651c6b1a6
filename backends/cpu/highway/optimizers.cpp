#include <boxcar/backends/cpu/vector_optimizers.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boxcar/backends/cpu/highway/optimizers.cpp"
#include <hwy/foreach_target.h>
// These headers must follow foreach_target.h.
#include <boxcar/backends/cpu/highway/rows-inl.h>

HWY_BEFORE_NAMESPACE();
namespace boxcar::cpu::HWY_NAMESPACE {
namespace {

// Calls step(pointers) for vectors of the elements at [rows], some of which may be null. The last elements are computed
// in a buffer, by the same code, so that results do not depend on where a row ends.
template <class T, size_t count, class Step>
HWY_INLINE void forRows(T* const (&rows)[count], size_t n, const Step& step) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const size_t left = n % lanes;
  HWY_ALIGN T rest[count][hn::MaxLanes(d)] = {};
  T* at[count];
  for (size_t k = 0; k < count; ++k) {
    at[k] = rows[k];
    if (rows[k] != nullptr) std::copy_n(rows[k] + (n - left), left, rest[k]);
  }
  for (size_t i = 0; i < n; i += lanes) {
    if (i + lanes > n) {
      for (size_t k = 0; k < count; ++k) at[k] = at[k] == nullptr ? nullptr : rest[k];
    }
    step(at);
    for (size_t k = 0; k < count; ++k) at[k] = at[k] == nullptr ? nullptr : at[k] + lanes;
  }
  for (size_t k = 0; k < count; ++k) {
    if (rows[k] != nullptr) std::copy_n(rest[k], left, rows[k] + (n - left));
  }
}

template <class D, class Numbers>
HWY_INLINE hn::Vec<D> usedGradient(D d, const Numbers& numbers, hn::TFromD<D>* gradient) {
  auto g = hn::LoadU(d, gradient);
  if (numbers.is_scaled) {
    g = hn::Div(g, hn::Set(d, numbers.scale));
    hn::StoreU(g, d, gradient);
  }
  return numbers.maximize ? hn::Neg(g) : g;
}

template <class T>
void adamRow(const AdamNumbers<T>& numbers, T* weight, T* gradient, T* mean, T* square, T* largest, size_t n) {
  const hn::ScalableTag<T> d;
  const auto beta2 = hn::Set(d, numbers.beta2);
  const auto rest2 = hn::Set(d, numbers.rest2);
  const auto decay = hn::Set(d, numbers.weight_decay);
  const auto factor = hn::Set(d, numbers.weight_factor);
  const auto inverse = hn::Set(d, T(1) / numbers.divisor);
  const auto eps = hn::Set(d, numbers.eps);
  const auto size = hn::Set(d, numbers.size);
  T* const rows[] = {weight, gradient, mean, square, largest};
  forRows(rows, n, [&](T* const* at) HWY_ATTR {
    const auto w = hn::Mul(hn::LoadU(d, at[0]), factor);
    auto g = usedGradient(d, numbers, at[1]);
    if (numbers.weight_decay != 0) g = hn::MulAdd(w, decay, g);
    const auto before = hn::LoadU(d, at[2]);
    const auto change = hn::Sub(g, before);
    const auto m = numbers.rest1 < T(0.5) ? hn::MulAdd(hn::Set(d, numbers.rest1), change, before)
                                          : hn::NegMulAdd(hn::Set(d, numbers.beta1), change, g);
    const auto v = hn::MulAdd(hn::LoadU(d, at[3]), beta2, hn::Mul(hn::Mul(rest2, g), g));
    hn::StoreU(m, d, at[2]);
    hn::StoreU(v, d, at[3]);
    auto most = v;
    if (at[4] != nullptr) {
      const auto other = hn::LoadU(d, at[4]);
      most = hn::IfThenElse(hn::Or(hn::Gt(other, v), hn::IsNaN(other)), other, v);
      hn::StoreU(most, d, at[4]);
    }
    const auto divisor = hn::MulAdd(hn::Sqrt(most), inverse, eps);
    hn::StoreU(hn::MulAdd(size, hn::Div(m, divisor), w), d, at[0]);
  });
}

template <class T>
void sgdRow(const SgdNumbers<T>& numbers, T* weight, T* gradient, T* buffer, size_t n) {
  const hn::ScalableTag<T> d;
  const auto decay = hn::Set(d, numbers.weight_decay);
  const auto momentum = hn::Set(d, numbers.momentum);
  const auto dampened = hn::Set(d, numbers.dampened);
  const auto size = hn::Set(d, numbers.size);
  T* const rows[] = {weight, gradient, buffer};
  forRows(rows, n, [&](T* const* at) HWY_ATTR {
    const auto w = hn::LoadU(d, at[0]);
    auto g = usedGradient(d, numbers, at[1]);
    if (numbers.weight_decay != 0) g = hn::MulAdd(w, decay, g);
    if (at[2] != nullptr) {
      auto b = g;
      if (!numbers.is_first) b = hn::MulAdd(hn::LoadU(d, at[2]), momentum, hn::Mul(g, dampened));
      hn::StoreU(b, d, at[2]);
      g = numbers.nesterov ? hn::MulAdd(b, momentum, g) : b;
    }
    hn::StoreU(hn::MulAdd(size, g, w), d, at[0]);
  });
}

template <class T>
constexpr OptimizerRows<T> kOptimizerRows = {adamRow<T>, sgdRow<T>};

const OptimizerRows<float>* floatRows() { return &kOptimizerRows<float>; }
const OptimizerRows<double>* doubleRows() { return &kOptimizerRows<double>; }

}  // namespace
}  // namespace boxcar::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boxcar::cpu {

BOXCAR_VECTOR_TABLES(OptimizerRows, optimizerRows)

}  // namespace boxcar::cpu
#endif
