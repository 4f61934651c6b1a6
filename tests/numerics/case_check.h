#pragma once

#include <optional>
#include <span>
#include <string>

#include "tests/numerics/case_reader.h"

namespace boxcar::numerics {

// Describes how the [results] of a call differ from [expected]; nullopt if they do not. [arguments] are those of the
// call.
std::optional<std::string> differenceOfResults(const Case& expected, const FunctionSchema& schema,
                                               std::span<const IValue> results, const CaseArguments& arguments);

// Describes how the arguments differ after the call; nullopt if they do not. Written arguments must have the expected
// values. Everything else must be unchanged, also the elements between those of views.
std::optional<std::string> differenceOfArguments(const Case& expected, const CaseArguments& arguments);

// Describes how a gradient differs from the [wanted] one; nullopt if it does not.
std::optional<std::string> differenceOfGradient(const Case& expected, const Tensor& found, const Tensor& wanted);

// Describes a value in short: "float32[2, 3]", "[int64[3], None]", "2.5".
std::string describe(const IValue& value);

// Describes the arguments of a call: "(self=float32[2, 3] strides [1, 2], dim=-1)".
std::string describe(const FunctionSchema& schema, const CaseArguments& arguments);

}  // namespace boxcar::numerics
