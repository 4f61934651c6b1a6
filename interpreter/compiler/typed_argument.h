#pragma once

// The arguments of a call, with their values inferred.

#include <boxcar/interpreter/compiler/inference_context.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/runtime/overload.h>
#include <boxcar/interpreter/syntax/source.h>
#include <boxcar/schema/function_schema.h>

#include <span>
#include <string_view>
#include <vector>

namespace boxcar::interp {

struct TypedArgument {
  typed::ExprPtr value;
  std::string_view keyword;  // empty: by position
  Span span;
};

// Returns the types and keywords, by which an overload is chosen.
std::vector<CallArgument> signatureOf(std::span<const TypedArgument> arguments);
// Whether an error was reported for one of them.
bool hasPoison(std::span<const TypedArgument> arguments);
// Reports that none of [candidates], which are called [name], takes the arguments.
void reportRejections(InferenceContext& context, Span span, std::string_view name,
                      std::span<const FunctionSchema* const> candidates, std::span<const TypedArgument> arguments,
                      std::span<const Rejection> rejections);

}  // namespace boxcar::interp
