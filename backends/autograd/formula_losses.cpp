#include <boxcar/backends/autograd/formula_functions.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <complex>

// Functions of formulas of networks and losses.

namespace boxcar::autograd {
Tensor imaginary(const Tensor& x) { return boxcar::complex(boxcar::zeros_like(x), x); }

double dropout_scale(double p, std::optional<bool> train) {
  if (!train.value_or(true)) return 1;
  return p == 1 ? 0 : 1 / (1 - p);
}

std::vector<int64_t> channels(const Tensor& x) { return {x.size(1)}; }

}  // namespace boxcar::autograd
