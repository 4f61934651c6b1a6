#pragma once

// Loops over values: what `for` and comprehensions share, and comprehensions.

#include <boxcar/interpreter/compiler/assignment_checker.h>
#include <boxcar/interpreter/compiler/call_checker.h>
#include <boxcar/interpreter/compiler/condition_checker.h>
#include <boxcar/interpreter/compiler/converter.h>
#include <boxcar/interpreter/compiler/expression_checker.h>
#include <boxcar/interpreter/compiler/inference_context.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/syntax/ast.h>

#include <cstddef>

namespace boxcar::interp {

// Infers `[e for x in xs if c]` as loops that append to a list. Its variables are local and set again in every
// iteration, so one pass finds their types.
class IterationChecker {
 public:
  IterationChecker(InferenceContext& context, Converter& converter, ExpressionChecker& expressions,
                   ConditionChecker& conditions, CallChecker& calls, AssignmentChecker& assignments)
      : context_(context),
        converter_(converter),
        expressions_(expressions),
        conditions_(conditions),
        calls_(calls),
        assignments_(assignments) {}

  typed::ExprPtr infer(const syntax::Comprehension& comprehension, Span span);
  // Starts a loop over [iterable]; typed::finishLoop() adds its body.
  typed::Stmt::Node loopOver(const syntax::Expr& iterable);

 private:
  // Emits the loops of [comprehension] from clause [clause] on, which append to the list in [list].
  void inferClauses(const syntax::Comprehension& comprehension, size_t clause, typed::Target list,
                    TypePtr& element_type, typed::Block& out);

  InferenceContext& context_;
  Converter& converter_;
  ExpressionChecker& expressions_;
  ConditionChecker& conditions_;
  CallChecker& calls_;
  AssignmentChecker& assignments_;
};

}  // namespace boxcar::interp
