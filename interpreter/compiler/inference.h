#pragma once

// The inference of types, from a syntax tree to a typed program.

#include <boxcar/interpreter/compiler/assignment_checker.h>
#include <boxcar/interpreter/compiler/attribute_checker.h>
#include <boxcar/interpreter/compiler/builtin_resolver.h>
#include <boxcar/interpreter/compiler/call_checker.h>
#include <boxcar/interpreter/compiler/call_resolver.h>
#include <boxcar/interpreter/compiler/condition_checker.h>
#include <boxcar/interpreter/compiler/converter.h>
#include <boxcar/interpreter/compiler/declarations.h>
#include <boxcar/interpreter/compiler/expression_checker.h>
#include <boxcar/interpreter/compiler/findings.h>
#include <boxcar/interpreter/compiler/index_checker.h>
#include <boxcar/interpreter/compiler/inference_context.h>
#include <boxcar/interpreter/compiler/iteration_checker.h>
#include <boxcar/interpreter/compiler/loop_tracker.h>
#include <boxcar/interpreter/compiler/operator_checker.h>
#include <boxcar/interpreter/compiler/scope_checker.h>
#include <boxcar/interpreter/compiler/statement_checker.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/compiler/update_checker.h>
#include <boxcar/interpreter/syntax/ast.h>
#include <boxcar/interpreter/syntax/diagnostic.h>

#include <string_view>
#include <vector>

namespace boxcar::interp {

// Infers the types of one function's body, or of a script's statements, and builds the typed program. Types follow the
// control flow; passes over loops repeat until what is known at their begin no longer changes.
class Inference {
 public:
  // [function] is null for the script's statements. Findings go to [findings] if it is not null. [outline]: for the
  // statements of a session's input; it is filled in here.
  Inference(Declarations& declarations, const ScriptFunction* function, Diagnostics& diagnostics,
            Findings* findings = nullptr, InputOutline* outline = nullptr);
  // The checkers refer to one another.
  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;

  typed::Function run(const std::vector<syntax::StmtPtr>& statements, Span span);

 private:
  // A variable that is set before the statements begin.
  struct ArgumentVariable {
    std::string_view name;
    TypePtr type;
    typed::FieldNames fields;
  };

  void beginPass();
  // Ends an input: its statements return the values of its variables, and the value of the last statement.
  void finishInput(const std::vector<syntax::StmtPtr>& statements, Span span, typed::Block& out);
  void declareNames(const std::vector<syntax::StmtPtr>& statements);
  void declareTargets(const syntax::Targets& targets);
  void declareName(const syntax::Name& name);
  void declareType(const syntax::TypedAssign& assign);

  InferenceContext context_;
  LoopTracker loops_{context_};
  std::vector<ArgumentVariable> arguments_;

  // On values that are inferred already.
  Converter converter_{context_};
  CallResolver resolver_{context_, converter_};
  BuiltinResolver builtins_{context_, converter_};
  OperatorChecker operators_{context_, converter_, resolver_};

  // Expressions, which contain one another. Comprehensions contain assignments, too.
  ExpressionChecker expressions_{context_, builtins_,   operators_, conditions_,
                                 calls_,   attributes_, indexing_,  iterations_};
  ConditionChecker conditions_{context_, expressions_, operators_};
  CallChecker calls_{context_, resolver_, builtins_, expressions_, conditions_};
  AttributeChecker attributes_{context_, converter_, builtins_, resolver_, expressions_};
  IndexChecker indexing_{context_, converter_, resolver_, builtins_, expressions_};
  AssignmentChecker assignments_{context_, converter_, resolver_, expressions_, attributes_, indexing_};
  IterationChecker iterations_{context_, converter_, expressions_, conditions_, calls_, assignments_};

  // Statements, which contain expressions.
  UpdateChecker updates_{context_,     converter_,  resolver_, builtins_,   operators_,
                         expressions_, attributes_, indexing_, assignments_};
  ScopeChecker scopes_{context_, builtins_, calls_};
  StatementChecker statements_{context_,    loops_,       converter_, expressions_, conditions_,
                               iterations_, assignments_, updates_,   scopes_};
};

}  // namespace boxcar::interp
