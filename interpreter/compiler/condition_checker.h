#pragma once

// Conditions, and what is known if they hold and if they do not.

#include <boxcar/interpreter/compiler/expression_checker.h>
#include <boxcar/interpreter/compiler/inference_context.h>
#include <boxcar/interpreter/compiler/operator_checker.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/syntax/ast.h>

#include <optional>

namespace boxcar::interp {

struct Condition {
  typed::ExprPtr value;  // bool
  Facts if_true;
  Facts if_false;
};

// Infers what is true or false: `not`, `and`, `or`, comparisons, `isinstance`, and all else as a bool.
class ConditionChecker {
 public:
  ConditionChecker(InferenceContext& context, ExpressionChecker& expressions, OperatorChecker& operators)
      : context_(context), expressions_(expressions), operators_(operators) {}

  Condition condition(const syntax::Expr& expr);
  // Infers a comparison with one link, whose value need not be a bool.
  typed::ExprPtr comparison(const syntax::Comparison& comparison, Span span);
  Condition isInstance(const syntax::Call& call, Span span);

 private:
  Condition condition(const syntax::Logical& logical, Span span);
  Condition condition(const syntax::Comparison& comparison, Span span);
  // Returns the variable that [expr] names, if it is set and a condition can tell more about its type.
  std::optional<typed::VariableId> narrowable(const syntax::Expr& expr) const;

  InferenceContext& context_;
  ExpressionChecker& expressions_;
  OperatorChecker& operators_;
};

}  // namespace boxcar::interp
