#include <boxcar/backends/meta/dims.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/storage_without_memory.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

// Fourier transforms of overlapping pieces of a signal, and back.

namespace boxcar::composite {
namespace {

using OptionalLength = std::optional<int64_t>;
using OptionalFlag = std::optional<bool>;
using OptionalWindow = std::optional<Tensor>;

// Throws Error unless the window, if there is one, has [length] elements.
void checkWindow(std::string_view name, const OptionalWindow& window, int64_t length) {
  if (!window.has_value()) return;
  BOXCAR_CHECK(window->dim() == 1 && window->size(0) == length,
               "{}: expected a 1D window tensor of size equal to win_length={}, but got window with sizes [{}]", name,
               length, fmt::join(window->sizes(), ", "));
}

// Returns the window with zeros on both sides, [size] elements long.
Tensor centred(const Tensor& window, int64_t size) {
  const int64_t missing = size - window.size(0);
  return missing == 0 ? window : boxcar::constant_pad_nd(window, std::array{missing / 2, missing - missing / 2});
}

Tensor stftCentred(const Tensor& self, int64_t n_fft, OptionalLength hop_length, OptionalLength win_length,
                   const OptionalWindow& window, bool center, std::string_view pad_mode, bool normalized,
                   OptionalFlag onesided, OptionalFlag return_complex) {
  const bool complex = self.is_complex() || (window.has_value() && window->is_complex());
  BOXCAR_CHECK(return_complex.has_value() || complex,
               "stft requires the return_complex parameter be given for real inputs; pass return_complex=True");
  BOXCAR_CHECK(isFloatingType(self.scalar_type()) || self.is_complex(),
               "stft: expected a tensor of floating point or complex values, but got {}",
               dtypeName(self.scalar_type()));
  BOXCAR_CHECK(self.dim() == 1 || self.dim() == 2, "stft: expected a 1D or 2D tensor, but got {} dimensions",
               self.dim());
  const int64_t hop = hop_length.value_or(n_fft / 4);
  const int64_t width = win_length.value_or(n_fft);
  Tensor input = self.dim() == 1 ? boxcar::unsqueeze(self, 0) : self;
  BOXCAR_CHECK(n_fft > 0, "stft: expected 0 < n_fft, but n_fft={}", n_fft);
  if (center) {
    input = boxcar::squeeze(boxcar::pad(boxcar::unsqueeze(input, 0), std::array{n_fft / 2, n_fft / 2}, pad_mode), 0);
  }
  const int64_t length = input.size(1);
  BOXCAR_CHECK(n_fft <= length, "stft: expected 0 < n_fft <= {}, but n_fft={}", length, n_fft);
  BOXCAR_CHECK(hop > 0, "stft: expected hop_length > 0, but got hop_length={}", hop);
  BOXCAR_CHECK(width > 0 && width <= n_fft, "stft: expected 0 < win_length <= n_fft, but got win_length={}", width);
  checkWindow("stft", window, width);

  input = boxcar::unfold(input, 1, n_fft, hop);
  if (window.has_value()) {
    input = boxcar::mul(input, centred(*window, n_fft));
  } else if (width < n_fft) {
    const Tensor all = boxcar::ones(std::span(&width, 1), self.scalar_type(), std::nullopt, self.device());
    input = boxcar::mul(input, centred(all, n_fft));
  }
  const bool half = onesided.value_or(!complex);
  BOXCAR_CHECK(!half || !complex, "Cannot have onesided output if window or input is complex");
  const int64_t normalization = normalized ? 1 : 0;
  Tensor result = complex ? boxcar::_fft_c2c(input, std::array<int64_t, 1>{2}, normalization, true)
                          : boxcar::_fft_r2c(input, std::array<int64_t, 1>{2}, normalization, half);
  result = boxcar::transpose(result, 1, 2);
  if (self.dim() == 1) result = boxcar::squeeze(result, 0);
  return return_complex.value_or(true) ? result : boxcar::view_as_real(result);
}

Tensor stft(const Tensor& self, int64_t n_fft, OptionalLength hop_length, OptionalLength win_length,
            const OptionalWindow& window, bool normalized, OptionalFlag onesided, OptionalFlag return_complex) {
  return stftCentred(self, n_fft, hop_length, win_length, window, false, "constant", normalized, onesided,
                     return_complex);
}

// Adds [pieces], of sizes [channels, count, size], which begin [hop] elements apart.
Tensor overlapped(const Tensor& pieces, int64_t hop) {
  const int64_t count = pieces.size(1);
  const int64_t size = pieces.size(2);
  int64_t length = 0;
  const bool overflow =
      __builtin_mul_overflow(hop, count - 1, &length) || __builtin_add_overflow(length, size, &length);
  BOXCAR_CHECK(!overflow, "istft: {} pieces that begin {} elements apart are too long", count, hop);
  const std::optional<Layout> layout;
  const Tensor starts = boxcar::mul(boxcar::arange(count, ScalarType::Long, layout, pieces.device()), hop);
  const Tensor places =
      boxcar::add(boxcar::unsqueeze(starts, 1), boxcar::arange(size, ScalarType::Long, layout, pieces.device()));
  const Tensor sums = boxcar::zeros(std::array{pieces.size(0), length}, pieces.scalar_type(), layout, pieces.device());
  return boxcar::index_add(sums, 1, boxcar::reshape(places, std::array<int64_t, 1>{-1}),
                           boxcar::reshape(pieces, std::array{pieces.size(0), count * size}));
}

Tensor istft(const Tensor& self, int64_t n_fft, OptionalLength hop_length, OptionalLength win_length,
             const OptionalWindow& window, bool center, bool normalized, OptionalFlag onesided, OptionalLength length,
             bool return_complex) {
  const int64_t hop = hop_length.value_or(n_fft / 4);
  const int64_t width = win_length.value_or(n_fft);
  BOXCAR_CHECK(self.is_complex(), "istft requires a complex-valued input tensor, but got {}",
               dtypeName(self.scalar_type()));
  BOXCAR_CHECK(self.numel() > 0, "istft: input tensor cannot be empty");
  BOXCAR_CHECK(self.dim() == 2 || self.dim() == 3,
               "istft: expected a complex tensor with 2 dimensions or 3 dimensions, but got {}", self.dim());
  const int64_t frames = self.size(-1);
  const int64_t bins = self.size(-2);
  const bool half = onesided.value_or(bins != n_fft);
  BOXCAR_CHECK(bins == (half ? n_fft / 2 + 1 : n_fft),
               "istft: expected the frequency dimension (2nd to the last) of the input tensor to have {} elements when "
               "onesided={}, but got {}",
               half ? n_fft / 2 + 1 : n_fft, half ? "True" : "False", bins);
  BOXCAR_CHECK(hop > 0 && hop <= width, "istft: expected 0 < hop_length <= win_length, but hop_length={}", hop);
  BOXCAR_CHECK(width <= n_fft, "istft: expected 0 < win_length <= n_fft, but win_length={}", width);
  BOXCAR_CHECK(!length.has_value() || (*length >= 0 && *length < std::numeric_limits<int64_t>::max() - n_fft),
               "istft: length must be at least 0 and not too large, but it is {}", *length);
  checkWindow("istft", window, width);
  BOXCAR_CHECK(!return_complex || !half, "Cannot have onesided output if window or input is complex");
  BOXCAR_CHECK(return_complex || !window.has_value() || !window->is_complex(),
               "Complex windows are incompatible with return_complex=False");

  const Tensor weights = centred(
      window.has_value()
          ? *window
          : boxcar::ones(std::span(&width, 1), toRealValueType(self.scalar_type()), std::nullopt, self.device()),
      n_fft);
  Tensor pieces = boxcar::transpose(self.dim() == 2 ? boxcar::unsqueeze(self, 0) : self, 1, 2);
  const int64_t normalization = normalized ? 1 : 2;
  if (return_complex) {
    pieces = boxcar::_fft_c2c(pieces, std::array<int64_t, 1>{2}, normalization, false);
  } else {
    if (!half) pieces = boxcar::slice(pieces, 2, 0, n_fft / 2 + 1);
    pieces = boxcar::_fft_c2r(pieces, std::array<int64_t, 1>{2}, normalization, n_fft);
  }
  const Tensor sums = overlapped(boxcar::mul(pieces, weights), hop);
  const Tensor squares = boxcar::expand(boxcar::square(weights), std::array{int64_t{1}, frames, n_fft});
  const Tensor envelope = overlapped(squares, hop);

  const int64_t whole = sums.size(1);
  const int64_t start = center ? n_fft / 2 : 0;
  const int64_t end = length.has_value() ? start + *length : center ? whole - n_fft / 2 : whole;
  const Tensor divisor = boxcar::slice(envelope, 1, start, end);
  const Tensor least = boxcar::abs(divisor);
  const bool divides =
      lacksElements(least) || least.numel() == 0 || boxcar::item(boxcar::min(least)).toDouble() >= 1e-11;
  BOXCAR_CHECK(divides,
               "istft: the windows do not cover each element of the signal, or have zeros there; choose a "
               "smaller hop_length, a window without zeros, or center=True");
  Tensor result = boxcar::div(boxcar::slice(sums, 1, start, end), divisor);
  if (self.dim() == 2) result = boxcar::squeeze(result, 0);
  if (end > whole) result = boxcar::constant_pad_nd(result, std::array<int64_t, 2>{0, end - whole});
  return result;
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("stft", BOXCAR_FN(stft));
  m.impl("stft.center", BOXCAR_FN(stftCentred));
  m.impl("istft", BOXCAR_FN(istft));
}

}  // namespace boxcar::composite
