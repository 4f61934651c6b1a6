#pragma once

#include <boxcar/dispatcher/boxing/kernel_function.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/ivalue.h>

#include <functional>
#include <vector>

// The loops that `boxcar bench` measures: nothing in them but the calls. Compiled as programs that call operators are.

namespace boxcar::cli {

// Makes that many calls. Empty where there is no such loop.
using CallLoop = std::function<void(long)>;

// `callBoxed`, all arguments pushed and the results dropped, as a program does that has values of any kind.
CallLoop boxedLoop(OperatorHandle op, const std::vector<IValue>& arguments);

// What needs the operator's C++ type, for the types that many operators have; both empty for others.
struct TypedLoops {
  // The kernel's own function, found once: no key is computed, no table looked at. Empty where a boxed kernel answers.
  CallLoop direct;
  // TypedOperatorHandle::call.
  CallLoop typed;
};
TypedLoops typedLoops(OperatorHandle op, const std::vector<IValue>& arguments);

// A kernel that gives its first argument back, and the loop of a program that calls it as the C++ function it is.
KernelFunction noOpKernel();
CallLoop directNoOpLoop(const Tensor& a, const Tensor& b);

}  // namespace boxcar::cli
