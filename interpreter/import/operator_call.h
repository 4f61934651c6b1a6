#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/interpreter/import/expression.h>
#include <boxcar/schema/argument.h>

#include <span>
#include <string>

namespace boxcar::interp {

// An argument that is not left to its default.
struct GivenArgument {
  const Argument* parameter = nullptr;
  Expression value;
  bool is_literal = false;
};

// Returns a call of [op] as a person would write it: as a method, `x.sum(1)`, or as `cat([x, y])`, with the overload's
// name only where the language would choose another one, and with names for literals that stand for a default.
// [given]: in the order of the schema.
Expression operatorCall(const OperatorHandle& op, std::span<const GivenArgument> given);

}  // namespace boxcar::interp
