#pragma once

namespace boxcar {

// Base class of functors that become kernels by pointer: KernelFunction::makeFromUnboxedFunctor. Functors that can be
// moved need no base class.
struct OperatorKernel {
  virtual ~OperatorKernel() = default;
};

}  // namespace boxcar
