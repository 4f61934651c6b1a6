#pragma once

#include <boxcar/ivalue/tensor.h>

#include <optional>
#include <string_view>

namespace boxcar::composite {

// Returns the number that _fft_c2c and its relatives take for [norm]: "backward" divides the inverse transform by the
// number of elements, "forward" the other one, "ortho" both by its square root. Throws Error for another name.
int64_t fftNormalization(std::optional<std::string_view> norm, bool forward);

// Returns [self] with elements that Fourier transforms take: float32 or float64, or if [complex], complex64 or
// complex128. Integers become float32. Throws Error for float16 and bfloat16.
Tensor fftInput(std::string_view name, const Tensor& self, bool complex);

}  // namespace boxcar::composite
