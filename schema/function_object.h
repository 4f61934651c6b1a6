#pragma once

#include <boxcar/ivalue/heap_values.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/stack.h>

#include <functional>
#include <string>

namespace boxcar {

class FunctionSchema;

// A function as a value: operators take it as an argument of type Function and return it, and scripts call it.
//
//   IValue twice = functionValue(parseSchema("twice(Tensor x) -> Tensor"), [](Stack& stack) {
//     push(stack, boxcar::mul(pop(stack).toTensor(), 2));
//   });
class BOXCAR_API FunctionObject : public CustomClassHolder {
 public:
  std::string className() const override { return "Function"; }
  // The function's name.
  std::string text() const override;

  // What it takes and returns; lives as long as the object.
  virtual const FunctionSchema& schema() const = 0;
  // Replaces the arguments, the last values of [stack], by the results, as an operator's boxed call does. Throws Error
  // for arguments that do not fit.
  virtual void call(Stack& stack) const = 0;
};

using FunctionPtr = IntrusivePtr<FunctionObject>;

// Makes a function of C++; [run] is called with arguments that fit [schema], on any thread, and replaces them by the
// results.
BOXCAR_API FunctionPtr makeFunction(FunctionSchema schema, std::function<void(Stack& stack)> run);

// Returns the function in [value]; null if it holds none.
BOXCAR_API const FunctionObject* functionIn(const IValue& value) noexcept;

}  // namespace boxcar
