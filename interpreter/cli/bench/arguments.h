#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/ivalue.h>

#include <string>
#include <vector>

namespace boxcar::cli {

// A call that `boxcar bench` measures: the operator, and all its arguments.
struct BenchCall {
  OperatorHandle op;
  std::vector<IValue> arguments;
  // Which of them a script writes down; the others are the schema's defaults.
  std::vector<bool> is_written;
};

// The operator that a user calls [name] (find_operator.h). An Error, too, for one that acts outside of the program, or
// takes any number of arguments.
OperatorHandle findOperatorToCall(const std::string& name);

// A call with small float32 tensors and such values as the schema's types allow. An Error, which says how to give
// others, where the schema has a type that nothing is known of, or the operator refuses them.
BenchCall makeUpCall(OperatorHandle op);

// A call with what the expression [text] of a script gives, "[ones([8, 8]), 2]": the arguments in the schema's order,
// converted as a script's are. A CLI::ValidationError where the text gives no list, after what is wrong in it was told,
// or not such arguments; an Error where the operator refuses them.
BenchCall readCall(OperatorHandle op, const std::string& text);

// "float32[2, 3], 1": what the call is made with.
std::string describeArguments(const BenchCall& call);

}  // namespace boxcar::cli
