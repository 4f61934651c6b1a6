#pragma once

#include <boxcar/dispatcher/boxing/kernel_function.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/ivalue.h>

#include <functional>
#include <vector>

// The loops that `boxcar bench` measures. They contain only the calls and are compiled like programs that call
// operators.

namespace boxcar::cli {

// Makes that many calls. Empty if there is no such loop.
using CallLoop = std::function<void(long)>;

// Returns a loop over `callBoxed` that pushes all arguments and drops the results, like a program whose values can be
// of any type.
CallLoop boxedLoop(OperatorHandle op, const std::vector<IValue>& arguments);

// The loops that need the operator's C++ type. They exist for types that many operators have; for others both are
// empty.
struct TypedLoops {
  // The kernel's own function, looked up once: no key is computed and no table is read. Empty if the kernel is boxed.
  CallLoop direct;
  // TypedOperatorHandle::call.
  CallLoop typed;
};
TypedLoops typedLoops(OperatorHandle op, const std::vector<IValue>& arguments);

// A kernel that returns its first argument, and the loop of a program that calls it as a plain C++ function.
KernelFunction noOpKernel();
CallLoop directNoOpLoop(const Tensor& a, const Tensor& b);

}  // namespace boxcar::cli
