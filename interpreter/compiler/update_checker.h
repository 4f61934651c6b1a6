#pragma once

// Assignments that compute: `x += e`.

#include <boxcar/interpreter/compiler/assignment_checker.h>
#include <boxcar/interpreter/compiler/attribute_checker.h>
#include <boxcar/interpreter/compiler/builtin_resolver.h>
#include <boxcar/interpreter/compiler/call_resolver.h>
#include <boxcar/interpreter/compiler/converter.h>
#include <boxcar/interpreter/compiler/expression_checker.h>
#include <boxcar/interpreter/compiler/index_checker.h>
#include <boxcar/interpreter/compiler/inference_context.h>
#include <boxcar/interpreter/compiler/operator_checker.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/syntax/ast.h>

namespace boxcar::interp {

// Changes Tensors and lists in place, and assigns the result otherwise.
class UpdateChecker {
 public:
  UpdateChecker(InferenceContext& context, Converter& converter, CallResolver& resolver, BuiltinResolver& builtins,
                OperatorChecker& operators, ExpressionChecker& expressions, AttributeChecker& attributes,
                IndexChecker& indexing, AssignmentChecker& assignments)
      : context_(context),
        converter_(converter),
        resolver_(resolver),
        builtins_(builtins),
        operators_(operators),
        expressions_(expressions),
        attributes_(attributes),
        indexing_(indexing),
        assignments_(assignments) {}

  void infer(const syntax::AugmentedAssign& assign, Span span, typed::Block& out);

 private:
  // Infers `x[i] += e`, which evaluates x and i once.
  void updateIndex(const syntax::Index& target, const syntax::AugmentedAssign& assign, Span span, typed::Block& out);
  // Infers the same for a Tensor [object].
  void updateTensor(typed::ExprPtr object, const syntax::Index& target, const syntax::AugmentedAssign& assign,
                    Span span, typed::Block& out);
  // Returns the result of `old op= value`, in place if the operation works that way.
  typed::ExprPtr updated(syntax::BinaryOp op, typed::ExprPtr old, typed::ExprPtr value, Span span);

  InferenceContext& context_;
  Converter& converter_;
  CallResolver& resolver_;
  BuiltinResolver& builtins_;
  OperatorChecker& operators_;
  ExpressionChecker& expressions_;
  AttributeChecker& attributes_;
  IndexChecker& indexing_;
  AssignmentChecker& assignments_;
};

}  // namespace boxcar::interp
