#pragma once

#include <boxcar/ivalue/tensor.h>

#include <functional>
#include <string>
#include <vector>

namespace boxcar::autograd {

using Differentiable = std::function<Tensor(const std::vector<Tensor>& inputs)>;

// Compares the gradients of the sum of function(inputs), weighted with fixed numbers, with finite differences. The
// inputs are float64 tensors that require grad. Returns "" where they agree, else a sentence about the first that does
// not.
std::string gradientMismatch(const Differentiable& function, const std::vector<Tensor>& inputs);

}  // namespace boxcar::autograd
