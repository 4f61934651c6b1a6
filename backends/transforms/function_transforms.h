#pragma once

#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/stack.h>
#include <boxcar/schema/function_object.h>
#include <boxcar/schema/function_schema.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

// The operators of the namespace func, which make functions of functions.

namespace boxcar::transforms {

// The name of what [transform] makes of [func]: "grad_of_loss".
std::string nameOf(std::string_view transform, const FunctionObject& func);
// Returns the schema of that, with the arguments of [func].
FunctionSchema schemaOf(std::string_view transform, const FunctionObject& func, std::vector<Argument> returns);
// Takes the arguments of [func] off its caller's stack: all that are there if it takes any number.
std::vector<IValue> takeArguments(const FunctionObject& func, Stack& stack);
// Returns which of [count] arguments [argnums] means, which may count from the end. Throws Error if there is none.
size_t argumentIndex(std::string_view transform, const FunctionObject& func, int64_t argnums, size_t count);
// Returns the type of that argument: Any if [func] takes any number. Throws Error if it is known that there is none.
TypePtr differentiatedType(std::string_view transform, const FunctionObject& func, int64_t argnums);
// "argument 'x'"
std::string argumentText(const FunctionObject& func, size_t index);

FunctionPtr vmapOfFunction(const FunctionPtr& func, const IValue& in_dims, const IValue& out_dims,
                           std::string_view randomness, std::optional<int64_t> chunk_size);
FunctionPtr jacrevOfFunction(const FunctionPtr& func, int64_t argnums, std::optional<int64_t> chunk_size);
FunctionPtr jacfwdOfFunction(const FunctionPtr& func, int64_t argnums, std::string_view randomness);
FunctionPtr hessianOfFunction(const FunctionPtr& func, int64_t argnums);
std::tuple<IValue, FunctionPtr> linearize(const FunctionPtr& func, const IValue& primals);

// Register the kernels in the namespace's block, of which there is one: each costs the start of programs.
void addFunctionTransforms(Library& m);
void addFunctionalize(Library& m);

}  // namespace boxcar::transforms
