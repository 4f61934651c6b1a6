#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <optional>

namespace boxcar::native {

// A step of Adam for one weight. All tensors are float32, or all are float64, and have the same sizes and strides,
// which leave no gaps. The numbers fit their dtype.
struct AdamCall {
  const Tensor& weight;
  const Tensor& gradient;
  const Tensor& mean;
  const Tensor& square;
  const Tensor* largest;        // of the squares (amsgrad); may be null
  std::optional<double> scale;  // the gradient is divided by it, in place
  bool maximize;
  double weight_factor;  // the weight is multiplied by it first
  double weight_decay;   // as part of the gradient
  double beta1;
  double beta2;
  double divisor;  // of the root of the squares
  double eps;
  double size;  // of the step; negative
};
using AdamFunction = void(const AdamCall& call);
// A device that has none takes the operators that a step is made of.
extern DeviceStub<AdamFunction> adamStep;

// A step of gradient descent for such tensors.
struct SgdCall {
  const Tensor& weight;
  const Tensor& gradient;
  const Tensor* buffer;  // of the momentum; may be null
  std::optional<double> scale;
  bool maximize;
  double weight_decay;
  double momentum;
  double dampened;  // what a gradient adds to the buffer
  double size;      // of the step; negative
  bool nesterov;
  bool is_first;  // the buffer becomes the gradient
};
using SgdFunction = void(const SgdCall& call);
extern DeviceStub<SgdFunction> sgdStep;

}  // namespace boxcar::native
