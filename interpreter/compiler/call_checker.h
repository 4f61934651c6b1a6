#pragma once

// Calls as written.

#include <boxcar/interpreter/compiler/builtin_resolver.h>
#include <boxcar/interpreter/compiler/call_resolver.h>
#include <boxcar/interpreter/compiler/condition_checker.h>
#include <boxcar/interpreter/compiler/expression_checker.h>
#include <boxcar/interpreter/compiler/inference_context.h>
#include <boxcar/interpreter/compiler/typed_argument.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/syntax/ast.h>

#include <string_view>
#include <vector>

namespace boxcar::interp {

// Finds out what the name of a call means: a function, an operator, a built-in or a method.
class CallChecker {
 public:
  CallChecker(InferenceContext& context, CallResolver& resolver, BuiltinResolver& builtins,
              ExpressionChecker& expressions, ConditionChecker& conditions)
      : context_(context),
        resolver_(resolver),
        builtins_(builtins),
        expressions_(expressions),
        conditions_(conditions) {}

  typed::ExprPtr infer(const syntax::Call& call, Span span);
  typed::ExprPtr infer(const syntax::MethodCall& call, Span span);
  std::vector<TypedArgument> inferArguments(const std::vector<syntax::Argument>& arguments);

 private:
  // Whether [name] is a variable or a constant of type [kind].
  bool isHeld(std::string_view name, TypeKind kind) const;
  // Infers a call of the function in a variable or a constant.
  typed::ExprPtr callValue(const syntax::Call& call, Span span);
  // Infers a call of a method of a type that is no struct's, or of another function with the object as first argument.
  typed::ExprPtr callOn(TypePtr type, const syntax::Name& called, std::vector<TypedArgument> arguments, Span span);
  // Whether a method call of this name means something for values that are no structs'.
  bool isKnownMethod(std::string_view name, uint32_t position);
  // Infers a call of a struct's method, or of the function in its field, and takes the arguments; null if it has none.
  typed::ExprPtr structMethod(const syntax::Name& method, std::vector<TypedArgument>& arguments, Span span);
  // Infers a method call on a value whose kind is only known at run time. [operators] is null if none has the name.
  typed::ExprPtr anyMethod(const syntax::Name& method, const OverloadSet* operators,
                           std::vector<TypedArgument> arguments, Span span);

  InferenceContext& context_;
  CallResolver& resolver_;
  BuiltinResolver& builtins_;
  ExpressionChecker& expressions_;
  ConditionChecker& conditions_;
};

}  // namespace boxcar::interp
