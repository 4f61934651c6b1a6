#pragma once

#include <optional>
#include <string>

#include "tests/numerics/case_reader.h"

namespace boxcar::numerics {

// Makes the call of [expected] inside functionalize(), with views that stay and with views that are copies, and
// compares it with the plain call: results, strides, which tensors share memory, all memory of the arguments, and the
// text of an Error. Calls below must write nothing, and the values there must have the elements of the results. Returns
// what is wrong in words; nullopt if nothing is. Elements may differ by rounding if functional_reasons.txt has the
// operator.
std::optional<std::string> functionalDifference(const Case& expected, const OperatorHandle& op);

// Says in a word how functionalize() makes calls of [op]: "form", the form that returns what it writes; "copies", the
// operator itself on copies of what it writes; "view"; "shape", another view of the argument's memory; "reads";
// "others", what the operator is made of. Empty if it refuses them, or leaves them alone.
std::string functionalWord(const OperatorHandle& op);

}  // namespace boxcar::numerics
