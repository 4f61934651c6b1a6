#include <boxcar/backends/composite/dtype.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <span>
#include <string_view>

// Windows, which signals are multiplied with before a Fourier transform.

namespace boxcar::composite {
namespace {

using WindowType = std::optional<ScalarType>;
using WindowLayout = std::optional<Layout>;
using WindowDevice = std::optional<Device>;
using WindowPin = std::optional<bool>;

struct WindowOptions {
  WindowType dtype;
  WindowLayout layout;
  WindowDevice device;
  WindowPin pin_memory;
};

// Returns fill(window, elements): [window] has the numbers from 0, and [elements] of them make a whole period. A window
// for a signal that repeats is a longer, symmetric one without its last element.
template <class Fill>
Tensor makeWindow(std::string_view name, int64_t length, bool periodic, const WindowOptions& options, Fill&& fill) {
  const ScalarType type = options.dtype.value_or(ScalarType::Float);
  BOXCAR_CHECK(isFloatingType(type) || isComplexType(type), "{} expects floating point dtypes, got: {}", name,
               dtypeName(type));
  BOXCAR_CHECK(length >= 0, "{} requires non-negative window_length, got window_length={}", name, length);
  BOXCAR_CHECK(length < std::numeric_limits<int64_t>::max(), "{}: window_length={} is too large", name, length);
  const auto& [dtype, layout, device, pin_memory] = options;
  if (length <= 1) return boxcar::ones(std::span(&length, 1), type, layout, device, pin_memory);
  const int64_t symmetric = length + (periodic ? 1 : 0);
  // float16 and bfloat16 are rounded once, at the end.
  const bool narrow = type == ScalarType::Half || type == ScalarType::BFloat16;
  Tensor numbers = boxcar::arange(symmetric, narrow ? ScalarType::Float : type, layout, device, pin_memory);
  const Tensor window = converted(fill(numbers, static_cast<double>(symmetric - 1)), type);
  return periodic ? boxcar::narrow(window, 0, 0, length) : window;
}

Tensor cosine(const Tensor& numbers, double factor) { return boxcar::cos(boxcar::mul(numbers, factor)); }

Tensor bartlett(int64_t length, bool periodic, WindowType dtype, WindowLayout layout, WindowDevice device,
                WindowPin pin_memory) {
  return makeWindow("bartlett_window", length, periodic, {dtype, layout, device, pin_memory},
                    [](const Tensor& numbers, double last) {
                      const Tensor rising = boxcar::mul(numbers, 2 / last);
                      const int64_t half = (static_cast<int64_t>(last) >> 1) + 1;
                      Tensor falling = boxcar::slice(rising, 0, half);
                      boxcar::add_(boxcar::mul_(falling, -1), 2);
                      return rising;
                    });
}

Tensor blackman(int64_t length, bool periodic, WindowType dtype, WindowLayout layout, WindowDevice device,
                WindowPin pin_memory) {
  return makeWindow("blackman_window", length, periodic, {dtype, layout, device, pin_memory},
                    [](const Tensor& numbers, double last) {
                      const double turn = 2 * std::numbers::pi / last;
                      const Tensor second = boxcar::mul(cosine(numbers, 2 * turn), 0.08);
                      return boxcar::add(boxcar::sub(second, boxcar::mul(cosine(numbers, turn), 0.5)), 0.42);
                    });
}

Tensor hammingOf(std::string_view name, int64_t length, bool periodic, double alpha, double beta,
                 const WindowOptions& options) {
  return makeWindow(name, length, periodic, options, [&](const Tensor& numbers, double last) {
    return boxcar::add(boxcar::mul(cosine(numbers, 2 * std::numbers::pi / last), -beta), alpha);
  });
}

Tensor hann(int64_t length, bool periodic, WindowType dtype, WindowLayout layout, WindowDevice device,
            WindowPin pin_memory) {
  return hammingOf("hann_window", length, periodic, 0.5, 0.5, {dtype, layout, device, pin_memory});
}

Tensor hamming(int64_t length, bool periodic, double alpha, double beta, WindowType dtype, WindowLayout layout,
               WindowDevice device, WindowPin pin_memory) {
  return hammingOf("hamming_window", length, periodic, alpha, beta, {dtype, layout, device, pin_memory});
}

// The modified Bessel function of order 0, by its power series, whose terms are all positive.
double besselI0(double x) {
  double sum = 1;
  double term = 1;
  for (double k = 1; term > 1e-17 * sum && std::isfinite(sum); ++k) {
    term *= (x / 2 / k) * (x / 2 / k);
    sum += term;
  }
  return std::isnan(x) ? x : sum;
}

Tensor kaiser(int64_t length, bool periodic, double beta, WindowType dtype, WindowLayout layout, WindowDevice device,
              WindowPin pin_memory) {
  return makeWindow("kaiser_window", length, periodic, {dtype, layout, device, pin_memory},
                    [&](Tensor& numbers, double last) {
                      if (numbers.is_meta()) return numbers;
                      const int64_t count = numbers.numel();
                      const Tensor values = boxcar::empty(std::span(&count, 1), ScalarType::Double);
                      auto* value = static_cast<double*>(values.data_ptr());
                      const double whole = besselI0(beta);
                      for (int64_t i = 0; i < count; ++i) {
                        const double place = 2 * static_cast<double>(i) / last - 1;
                        value[i] = besselI0(beta * std::sqrt(1 - place * place)) / whole;
                      }
                      boxcar::copy_(numbers, values);
                      return numbers;
                    });
}

// The forms with less arguments.
template <auto function>
Tensor periodicWindow(int64_t length, WindowType dtype, WindowLayout layout, WindowDevice device,
                      WindowPin pin_memory) {
  return function(length, true, dtype, layout, device, pin_memory);
}
Tensor hammingPlain(int64_t length, bool periodic, WindowType dtype, WindowLayout layout, WindowDevice device,
                    WindowPin pin_memory) {
  return hamming(length, periodic, 0.54, 0.46, dtype, layout, device, pin_memory);
}
Tensor hammingAlpha(int64_t length, bool periodic, double alpha, WindowType dtype, WindowLayout layout,
                    WindowDevice device, WindowPin pin_memory) {
  return hamming(length, periodic, alpha, 0.46, dtype, layout, device, pin_memory);
}
Tensor kaiserPlain(int64_t length, bool periodic, WindowType dtype, WindowLayout layout, WindowDevice device,
                   WindowPin pin_memory) {
  return kaiser(length, periodic, 12, dtype, layout, device, pin_memory);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("bartlett_window", BOXCAR_FN(periodicWindow<bartlett>));
  m.impl("bartlett_window.periodic", BOXCAR_FN(bartlett));
  m.impl("blackman_window", BOXCAR_FN(periodicWindow<blackman>));
  m.impl("blackman_window.periodic", BOXCAR_FN(blackman));
  m.impl("hann_window", BOXCAR_FN(periodicWindow<hann>));
  m.impl("hann_window.periodic", BOXCAR_FN(hann));
  m.impl("hamming_window", BOXCAR_FN(periodicWindow<hammingPlain>));
  m.impl("hamming_window.periodic", BOXCAR_FN(hammingPlain));
  m.impl("hamming_window.periodic_alpha", BOXCAR_FN(hammingAlpha));
  m.impl("hamming_window.periodic_alpha_beta", BOXCAR_FN(hamming));
  m.impl("kaiser_window", BOXCAR_FN(periodicWindow<kaiserPlain>));
  m.impl("kaiser_window.periodic", BOXCAR_FN(kaiserPlain));
  m.impl("kaiser_window.beta", BOXCAR_FN(kaiser));
}

}  // namespace boxcar::composite
