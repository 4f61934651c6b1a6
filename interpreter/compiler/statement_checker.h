#pragma once

// Statements of every kind.

#include <boxcar/interpreter/compiler/assignment_checker.h>
#include <boxcar/interpreter/compiler/condition_checker.h>
#include <boxcar/interpreter/compiler/converter.h>
#include <boxcar/interpreter/compiler/expression_checker.h>
#include <boxcar/interpreter/compiler/inference_context.h>
#include <boxcar/interpreter/compiler/iteration_checker.h>
#include <boxcar/interpreter/compiler/loop_tracker.h>
#include <boxcar/interpreter/compiler/scope_checker.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/compiler/update_checker.h>
#include <boxcar/interpreter/syntax/ast.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace boxcar::interp {

// Follows the control flow: what is known on each path, and where paths meet.
class StatementChecker {
 public:
  StatementChecker(InferenceContext& context, LoopTracker& loops, Converter& converter, ExpressionChecker& expressions,
                   ConditionChecker& conditions, IterationChecker& iterations, AssignmentChecker& assignments,
                   UpdateChecker& updates, ScopeChecker& scopes)
      : context_(context),
        loops_(loops),
        converter_(converter),
        expressions_(expressions),
        conditions_(conditions),
        iterations_(iterations),
        assignments_(assignments),
        updates_(updates),
        scopes_(scopes) {}

  void infer(const std::vector<syntax::StmtPtr>& statements, typed::Block& out);

 private:
  void infer(const syntax::Stmt& statement, typed::Block& out);
  void infer(const syntax::Assign& assign, Span span, typed::Block& out);
  void infer(const syntax::TypedAssign& assign, Span span, typed::Block& out);
  void infer(const syntax::If& statement, Span span, typed::Block& out);
  void infer(const syntax::While& statement, Span span, typed::Block& out);
  void infer(const syntax::For& statement, Span span, typed::Block& out);
  void infer(const syntax::Return& statement, Span span, typed::Block& out);
  void infer(const syntax::Assert& statement, Span span, typed::Block& out);
  void infer(const syntax::Raise& statement, Span span, typed::Block& out);
  void infer(const syntax::Const& statement, Span span, typed::Block& out);
  void infer(const syntax::With& statement, Span span, typed::Block& out);
  void infer(const syntax::Impl& statement, Span span, typed::Block& out);
  void infer(const syntax::Fallback& statement, Span span, typed::Block& out);
  void infer(const syntax::Import& statement, Span span, typed::Block& out);

  InferenceContext& context_;
  LoopTracker& loops_;
  Converter& converter_;
  ExpressionChecker& expressions_;
  ConditionChecker& conditions_;
  IterationChecker& iterations_;
  AssignmentChecker& assignments_;
  UpdateChecker& updates_;
  ScopeChecker& scopes_;
  std::unordered_map<uint32_t, uint32_t> module_imports_;  // the import that calls the statements of a module
};

}  // namespace boxcar::interp
