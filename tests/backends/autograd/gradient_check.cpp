#include "tests/backends/autograd/gradient_check.h"

#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <cmath>
#include <cstddef>

namespace boxcar::autograd {
namespace {

// Different for each element, so that no two errors cancel.
Tensor weightsFor(const Tensor& output) {
  const Tensor numbers = boxcar::arange(1, output.numel() + 1, 1, ScalarType::Double);
  return boxcar::reshape(boxcar::sin(numbers), output.sizes());
}

double weightedSum(const Differentiable& function, const std::vector<Tensor>& inputs) {
  const NoGradGuard no_grad;
  const Tensor output = function(inputs);
  return boxcar::item(boxcar::sum(boxcar::mul(output, weightsFor(output)))).toDouble();
}

}  // namespace

std::string gradientMismatch(const Differentiable& function, const std::vector<Tensor>& inputs) {
  const Tensor output = function(inputs);
  const std::vector<Tensor> gradients = grad({{output}}, inputs, {{weightsFor(output)}}, false, false, true);
  constexpr double kStep = 1e-6;
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto* const elements = inputs[i].data_ptr<double>();
    const Tensor gradient = gradients[i].defined() ? boxcar::contiguous(gradients[i]) : boxcar::zeros_like(inputs[i]);
    for (int64_t k = 0; k < inputs[i].numel(); ++k) {
      const double before = elements[k];
      elements[k] = before + kStep;
      const double above = weightedSum(function, inputs);
      elements[k] = before - kStep;
      const double below = weightedSum(function, inputs);
      elements[k] = before;
      const double expected = (above - below) / (2 * kStep);
      const double found = gradient.data_ptr<double>()[k];
      if (!(std::abs(found - expected) <= 1e-5 * (1 + std::abs(expected)))) {
        return fmt::format("element {} of input {}: the gradient is {}, differences give {}", k, i, found, expected);
      }
    }
  }
  return {};
}

}  // namespace boxcar::autograd
