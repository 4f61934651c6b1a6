#pragma once

// Expressions of every kind.

#include <boxcar/interpreter/compiler/inference_context.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/syntax/ast.h>

namespace boxcar::interp {

class AttributeChecker;
class BuiltinResolver;
class CallChecker;
class ConditionChecker;
class IndexChecker;
class IterationChecker;
class OperatorChecker;

// Infers literals, names and attributes, and passes other expressions to the checkers of their kinds.
class ExpressionChecker {
 public:
  ExpressionChecker(InferenceContext& context, BuiltinResolver& builtins, OperatorChecker& operators,
                    ConditionChecker& conditions, CallChecker& calls, AttributeChecker& attributes,
                    IndexChecker& indexing, IterationChecker& iterations)
      : context_(context),
        builtins_(builtins),
        operators_(operators),
        conditions_(conditions),
        calls_(calls),
        attributes_(attributes),
        indexing_(indexing),
        iterations_(iterations) {}

  // Returns [expr] with its type; a poison if an error was reported.
  typed::ExprPtr infer(const syntax::Expr& expr);

 private:
  typed::ExprPtr inferNode(const syntax::Expr& expr);
  typed::ExprPtr infer(const syntax::ListLiteral& list, Span span);
  typed::ExprPtr infer(const syntax::TupleLiteral& tuple, Span span);
  typed::ExprPtr infer(const syntax::DictLiteral& dict, Span span);
  typed::ExprPtr infer(const syntax::FormattedString& string, Span span);
  typed::ExprPtr infer(const syntax::NameRef& ref, Span span);
  typed::ExprPtr infer(const syntax::Unary& unary, Span span);
  typed::ExprPtr infer(const syntax::Binary& binary, Span span);
  typed::ExprPtr infer(const syntax::Conditional& conditional, Span span);
  typed::ExprPtr infer(const syntax::Attribute& attribute, Span span);
  static typed::ExprPtr functionValue(const ScriptFunction& function, Span span);
  // Whether [expr] is the `torch` of `torch.float32`, which is how tensors show their dtypes.
  bool isTorch(const syntax::Expr& expr) const;

  InferenceContext& context_;
  BuiltinResolver& builtins_;
  OperatorChecker& operators_;
  ConditionChecker& conditions_;
  CallChecker& calls_;
  AttributeChecker& attributes_;
  IndexChecker& indexing_;
  IterationChecker& iterations_;
};

}  // namespace boxcar::interp
