#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/ivalue.h>

#include <string>
#include <vector>

namespace boxcar::cli {

// A call that `boxcar bench` measures: the operator and all its arguments.
struct BenchCall {
  OperatorHandle op;
  std::vector<IValue> arguments;
  // Which arguments a script writes down; the others are the schema's defaults.
  std::vector<bool> is_written;
};

// Returns the operator that a user calls [name], as findOperator() does. Also throws Error if the operator acts outside
// the program or takes any number of arguments.
OperatorHandle findOperatorToCall(const std::string& name);

// Returns a call with small float32 tensors and whatever other values the schema's types allow. Throws Error, which
// says how to give other arguments, if no value is known for a type in the schema or the operator refuses the values.
BenchCall makeUpCall(OperatorHandle op);

// Returns a call with the arguments that the script expression [text] gives, such as "[ones([8, 8]), 2]": in the
// schema's order, converted as in a script. Throws CLI::ValidationError if the text does not give a list (after
// reporting what is wrong with it) or gives the wrong arguments; throws Error if the operator refuses them.
BenchCall readCall(OperatorHandle op, const std::string& text);

// Returns the arguments of the call as text: "float32[2, 3], 1".
std::string describeArguments(const BenchCall& call);

}  // namespace boxcar::cli
