#pragma once

// Attributes: `x.shape`, `x.grad = None`.

#include <boxcar/interpreter/compiler/builtin_resolver.h>
#include <boxcar/interpreter/compiler/call_resolver.h>
#include <boxcar/interpreter/compiler/converter.h>
#include <boxcar/interpreter/compiler/inference_context.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/syntax/ast.h>

#include <string_view>

namespace boxcar::interp {

class ExpressionChecker;

// Infers attributes. Those of tensors that are not built in are operators of the namespace prim, as in TorchScript:
// `x.grad` calls prim::grad, and `x.grad = y` its overload prim::grad.set.
class AttributeChecker {
 public:
  AttributeChecker(InferenceContext& context, Converter& converter, BuiltinResolver& builtins, CallResolver& resolver,
                   ExpressionChecker& expressions)
      : context_(context), converter_(converter), builtins_(builtins), resolver_(resolver), expressions_(expressions) {}

  // Returns the value of attribute [name] of [object]; a poison if an error was reported.
  typed::ExprPtr value(typed::ExprPtr object, const syntax::Name& name, Span span);
  // Sets it. Evaluates the object here.
  void assign(const syntax::Attribute& target, typed::ExprPtr value, Span span, typed::Block& out);
  void set(typed::ExprPtr object, const syntax::Name& name, typed::ExprPtr value, Span span, typed::Block& out);

 private:
  // Returns the operators that are the attribute of a value of type [type]; null if there are none.
  const OverloadSet* operatorsOf(TypePtr type, std::string_view name);

  // Fields of structs.
  typed::ExprPtr fieldOf(typed::ExprPtr object, const syntax::Name& name, Span span);
  void setField(typed::ExprPtr object, const syntax::Name& name, typed::ExprPtr value, Span span, typed::Block& out);
  Diagnostic& reportNoField(TypePtr type, const syntax::Name& name);
  // The attribute of a value that is no struct's, and takes the value; null, without an error, if it is Any and nothing
  // else has such an attribute.
  typed::ExprPtr attributeOf(typed::ExprPtr& object, const syntax::Name& name, Span span);
  // Returns the operators that set the attribute; null if there are none.
  const OverloadSet* settersOf(TypePtr type, std::string_view name);
  void setByOperator(const OverloadSet& operators, typed::ExprPtr object, const syntax::Name& name,
                     typed::ExprPtr value, Span span, typed::Block& out);

  InferenceContext& context_;
  Converter& converter_;
  BuiltinResolver& builtins_;
  CallResolver& resolver_;
  ExpressionChecker& expressions_;
};

}  // namespace boxcar::interp
