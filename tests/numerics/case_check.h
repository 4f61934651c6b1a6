#pragma once

#include <optional>
#include <span>
#include <string>

#include "tests/numerics/case_reader.h"

namespace boxcar::numerics {

// In words, how what a call returned differs from what [expected] says; nothing where it does not. [results] are the
// call's, [arguments] those that it was made with.
std::optional<std::string> differenceOfResults(const Case& expected, const FunctionSchema& schema,
                                               std::span<const IValue> results, const CaseArguments& arguments);

// The same for the arguments after the call: what is to be written is written, everything else is as it was, in the
// elements between those of views, too.
std::optional<std::string> differenceOfArguments(const Case& expected, const CaseArguments& arguments);

// "float32[2, 3]", "[int64[3], None]", "2.5": a value in short.
std::string describe(const IValue& value);

// The call in words: "(self=float32[2, 3] strides [1, 2], dim=-1)".
std::string describe(const FunctionSchema& schema, const CaseArguments& arguments);

}  // namespace boxcar::numerics
