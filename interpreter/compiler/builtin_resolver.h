#pragma once

// Calls of built-ins, which are not operators.

#include <boxcar/interpreter/compiler/converter.h>
#include <boxcar/interpreter/compiler/inference_context.h>
#include <boxcar/interpreter/compiler/typed_argument.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/runtime/overload.h>

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace boxcar::interp {

struct Builtin;

// Turns calls of built-ins into instructions.
class BuiltinResolver {
 public:
  BuiltinResolver(InferenceContext& context, Converter& converter) : context_(context), converter_(converter) {}

  // Returns the call of the built-in called [name], which there must be; reports arguments that it does not take.
  typed::ExprPtr callBuiltin(std::string_view name, std::vector<TypedArgument> arguments, Span span);
  // Whether [builtin] takes arguments of these types.
  static bool takes(const Builtin& builtin, std::span<const CallArgument> arguments);

 private:
  // Returns a call that is a single instruction for known types; null if it is not.
  typed::ExprPtr inlineBuiltin(std::string_view name, std::vector<TypedArgument>& arguments, Span span);
  // Returns the arguments of a built-in whose last positional parameter takes separate arguments: those before it, the
  // separate ones, then keyword arguments in the schema's order. Returns nothing if an error was reported.
  std::optional<std::vector<typed::ExprPtr>> variadicArguments(const Builtin& builtin,
                                                               std::vector<TypedArgument> arguments, Span span);

  InferenceContext& context_;
  Converter& converter_;
};

}  // namespace boxcar::interp
