#pragma once

#include <boxcar/backends/autograd/autograd.h>

#include <initializer_list>
#include <string>

#include "tests/backends/tensor_helpers.h"

namespace boxcar::autograd {

inline Tensor leaf(std::initializer_list<float> values) { return floats(values).set_requires_grad(true); }

inline std::string gradText(const Tensor& tensor) {
  const Tensor gradient = gradOf(tensor);
  return gradient.defined() ? toString(detach(gradient)) : "none";
}

// The gradient of the sum of [y]'s elements, each times 1, 10, 100 …
inline std::string weightedGrad(const Tensor& y, const Tensor& x) {
  const Tensor weights = pow(10, arange(y.numel(), ScalarType::Float));
  return toString(grad({{sum(mul(view(y, {-1}), weights))}}, {{x}}, {}, true)[0]);
}

}  // namespace boxcar::autograd
