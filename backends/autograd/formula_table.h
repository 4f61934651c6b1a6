#pragma once

#include <boxcar/backends/autograd/formula.h>
#include <boxcar/dispatcher/registry/operator_handle.h>

#include <cstddef>
#include <cstdint>

namespace boxcar::autograd {

// What the autograd kernel knows of an operator.
struct DifferentiatedOperator {
  const Formula* formula;  // null if there is none
  size_t arguments;
  size_t results;
  bool writes_self;  // an in-place operator
  bool writes_out;
  bool is_view;
  uint64_t written_arguments;  // a bit for each argument after the first that is written, but no out=
};

// The operator must be defined. What is returned lives as long as the process.
BOXCAR_API const DifferentiatedOperator& differentiatedOperator(const OperatorHandle& op);

}  // namespace boxcar::autograd
