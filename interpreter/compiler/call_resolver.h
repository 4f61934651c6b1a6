#pragma once

// Calls of functions and operators whose arguments are inferred already.

#include <boxcar/interpreter/compiler/converter.h>
#include <boxcar/interpreter/compiler/declarations.h>
#include <boxcar/interpreter/compiler/inference_context.h>
#include <boxcar/interpreter/compiler/typed_argument.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/runtime/overload.h>

#include <initializer_list>
#include <string_view>
#include <vector>

namespace boxcar::interp {

// Chooses the overload that a call means, now or at run time, and brings the arguments into its order and types.
class CallResolver {
 public:
  CallResolver(InferenceContext& context, Converter& converter) : context_(context), converter_(converter) {}

  typed::ExprPtr callScriptFunction(const ScriptFunction& function, std::vector<TypedArgument> arguments, Span span);
  // Makes a value of a struct; fields that are not given have their defaults.
  typed::ExprPtr makeStruct(const ScriptStruct& made, std::vector<TypedArgument> arguments, Span span);
  // Calls the method, or the function in the field, that the value has when the line runs; the first argument is the
  // value.
  typed::ExprPtr callMember(std::string_view name, std::vector<TypedArgument> arguments, Span span);
  // Calls the function that is the first argument.
  typed::ExprPtr callHeld(std::vector<TypedArgument> arguments, Span span);
  // [name_span] is the place of the name, or empty.
  typed::ExprPtr callOperators(const OverloadSet& set, std::vector<TypedArgument> arguments, Span span, Span name_span);
  typed::ExprPtr callOverload(const OverloadSet& set, const syntax::Name& overload,
                              std::vector<TypedArgument> arguments, Span span, Span name_span);
  // Calls the operator of this name in `aten`, and takes the arguments.
  typed::ExprPtr callAten(std::string_view name, std::initializer_list<typed::ExprPtr*> operands, Span span);

 private:
  typed::ExprPtr callDynamic(const OverloadSet& set, const Resolution& resolution, std::vector<TypedArgument> arguments,
                             Span span);

  InferenceContext& context_;
  Converter& converter_;
};

}  // namespace boxcar::interp
