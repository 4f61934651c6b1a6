#pragma once

#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/function_object.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// Derivatives that a function computes. It gets, by the names of its parameters, `grad` (the gradient of the result) or
// `grads` (those of all results), arguments of the call, and results by their names or as `result`. It returns a
// gradient, or None, for each argument of type Tensor, Tensor? or Tensor[].

namespace boxcar::autograd {

// Gives [op], such as "plug::scale", which must have no derivative of its own, that of [backward], while the handles
// live. Throws Error if there is no such operator, if it has a formula or writes its arguments, or if a parameter of
// [backward] is none of the above.
BOXCAR_API std::vector<RegistrationHandleRAII> registerDerivative(std::string_view op, FunctionPtr backward);

// Calls [call], which is not recorded, with [args], and gives its results the derivative [backward]. [forward]: the
// schema of the call. Errors begin with [label].
using CallWithArguments = std::function<std::vector<IValue>(const std::vector<IValue>& args)>;
std::vector<IValue> callWithDerivative(std::string_view label, const FunctionSchema& forward,
                                       const CallWithArguments& call, const FunctionPtr& backward,
                                       std::vector<IValue> args);

}  // namespace boxcar::autograd
