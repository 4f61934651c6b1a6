#pragma once

#include <boxcar/backends/autograd/formula.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/ivalue.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace boxcar::autograd {

// What the autograd kernel knows of an operator.
struct DifferentiatedOperator {
  const Formula* formula;  // null if there is none
  size_t arguments;
  size_t results;
  bool writes_self;  // an in-place operator
  bool writes_out;
  bool is_view;
  bool is_pointwise;
  uint64_t written_arguments;  // a bit for each argument after the first that is written, but no out=
};

// The operator must be defined. What is returned lives as long as the process.
BOXCAR_API const DifferentiatedOperator& differentiatedOperator(const OperatorHandle& op);

// Throws the Error of a call with out= an argument of which [has] what is differentiated: "requires grad".
[[noreturn]] void failOnWrittenOut(const OperatorHandle& op, std::string_view has);
// Throws the Error of a call whose argument [index] has what it [cannot] have, a clause with the remedy.
[[noreturn]] void failOnRefusedArgument(const OperatorHandle& op, size_t index, std::string_view cannot);

// Throws Error if [has] holds for an argument that the operator cannot be differentiated by.
template <class Has>
void checkRefusedArguments(const DifferentiatedOperator& known, const OperatorHandle& op,
                           std::span<const IValue> arguments, Has&& has, std::string_view cannot) {
  for (uint32_t left = known.formula->refused_arguments; left != 0; left &= left - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(left));
    if (has(arguments[i])) failOnRefusedArgument(op, i, cannot);
  }
}

}  // namespace boxcar::autograd
