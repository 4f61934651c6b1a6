#pragma once

#include <boxcar/backends/transforms/functional_form.h>
#include <boxcar/backends/transforms/functional_values.h>
#include <boxcar/ivalue/stack.h>

#include <span>
#include <vector>

// What functionalize() makes of one call.

namespace boxcar::transforms {

class FunctionalCall final {
 public:
  // [below]: the keys below Functionalize.
  FunctionalCall(FunctionalValues& values, const OperatorHandle& op, DispatchKeySet below, Stack& stack);

  // Replaces the arguments on the stack by the results.
  void run();

 private:
  std::span<IValue> arguments() { return {stack_.end() - count_, stack_.end()}; }
  std::vector<IValue> takeArguments();
  void giveResults(std::vector<IValue> results);

  void read();
  bool view();
  void write();
  void shape();
  void resize();

  // Adds [values] to [mapped] with the tensors' values in place of the tensors; returns whether one is another.
  bool currentOf(std::span<const IValue> values, std::vector<IValue>& mapped) const;
  // A trace cannot write a number in place of a tensor without a tensor next to it: makes it a tensor of no dimensions.
  bool unwrapNumbers(std::vector<IValue>& values) const;
  // Calls an operator so that modes and traces below see it.
  std::vector<IValue> callBelow(const OperatorHandle& op, const std::vector<IValue>& arguments) const;
  // Calls this operator on the program's own tensors, so that nobody sees it.
  std::vector<IValue> callHidden(const std::vector<IValue>& arguments) const;
  // The same for a random operator, to see whether it refuses its arguments: it draws from a generator of its own.
  void callHiddenOnce(std::vector<IValue> arguments) const;
  // Whether results may have other strides than those of the program's own tensors: copies of views with gaps that are
  // not in the order of their dimensions lie otherwise than these.
  bool mayDifferInOrder(const std::vector<IValue>& given, const std::vector<IValue>& values) const;
  // The step that makes what the operator returns, the element [index] of a list if not negative.
  ViewStep stepOf(const std::vector<IValue>& arguments, uint8_t viewed, int64_t index) const;
  // Notes which results show the memory of arguments.
  void noteResults(const std::vector<IValue>& arguments, std::span<const IValue> results, bool is_value) const;
  void noteResult(const std::vector<IValue>& arguments, const Tensor& result, std::optional<int64_t> index,
                  bool is_value) const;

  // A tensor that the call writes, and its new value.
  struct Write {
    Tensor tensor;
    Tensor value;
  };
  // [is_checked]: whether the operator would refuse nothing.
  void writeAll(const std::vector<IValue>& given, std::span<Write> writes, bool is_checked) const;
  void writeResized(const std::vector<IValue>& given, std::span<Write> writes) const;
  // Whether the operator may refuse to write what its form has returned: a result of another dtype, or memory that is
  // shared.
  bool mayRefuse(const std::vector<IValue>& given, const Write& write) const;
  void toType(Write& write) const;
  // Writes [value] to the memory of [tensor] so that nobody sees it.
  void copyHidden(const Tensor& tensor, const Tensor& value) const;

  FunctionalValues& values_;
  const OperatorHandle& op_;
  const OperatorPlan& plan_;
  const DispatchKeySet keys_;  // those below, and a trace's
  Stack& stack_;
  const size_t count_;
};

}  // namespace boxcar::transforms
