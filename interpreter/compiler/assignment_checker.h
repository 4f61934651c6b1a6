#pragma once

// Assignments to names and places, and unpacking.

#include <boxcar/interpreter/compiler/attribute_checker.h>
#include <boxcar/interpreter/compiler/call_resolver.h>
#include <boxcar/interpreter/compiler/converter.h>
#include <boxcar/interpreter/compiler/expression_checker.h>
#include <boxcar/interpreter/compiler/index_checker.h>
#include <boxcar/interpreter/compiler/inference_context.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/syntax/ast.h>

namespace boxcar::interp {

// Assigns values that are inferred already. Statements and comprehensions assign to the same kinds of targets.
class AssignmentChecker {
 public:
  AssignmentChecker(InferenceContext& context, Converter& converter, CallResolver& resolver,
                    ExpressionChecker& expressions, AttributeChecker& attributes, IndexChecker& indexing)
      : context_(context),
        converter_(converter),
        resolver_(resolver),
        expressions_(expressions),
        attributes_(attributes),
        indexing_(indexing) {}

  // Assigns to one target, or unpacks [value] into several.
  void assignAll(const syntax::Targets& targets, typed::ExprPtr value, Span span, typed::Block& out);
  void assignVariable(const syntax::Name& name, typed::ExprPtr value, Span span, typed::Block& out);
  void setTensorIndex(TensorIndex place, typed::ExprPtr value, Span span, typed::Block& out);

 private:
  void assign(const syntax::Expr& target, typed::ExprPtr value, Span span, typed::Block& out);
  void assignIndex(const syntax::Index& target, typed::ExprPtr value, Span span, typed::Block& out);
  void unpack(const syntax::Targets& targets, typed::ExprPtr value, Span span, typed::Block& out);

  InferenceContext& context_;
  Converter& converter_;
  CallResolver& resolver_;
  ExpressionChecker& expressions_;
  AttributeChecker& attributes_;
  IndexChecker& indexing_;
};

}  // namespace boxcar::interp
