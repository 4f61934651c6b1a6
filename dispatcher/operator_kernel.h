#pragma once

namespace boxcar {

// What a functor derives from to become a kernel by pointer: KernelFunction::makeFromUnboxedFunctor. Functors that can
// be moved need not derive from anything.
struct OperatorKernel {
  virtual ~OperatorKernel() = default;
};

}  // namespace boxcar
