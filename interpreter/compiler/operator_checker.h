#pragma once

// Arithmetic and comparisons of values that are inferred already.

#include <boxcar/interpreter/compiler/call_resolver.h>
#include <boxcar/interpreter/compiler/converter.h>
#include <boxcar/interpreter/compiler/inference_context.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/syntax/ast.h>

#include <string_view>

namespace boxcar::interp {

// Chooses opcodes for numbers, operators for tensors, and decisions at run time otherwise.
class OperatorChecker {
 public:
  OperatorChecker(InferenceContext& context, Converter& converter, CallResolver& resolver)
      : context_(context), converter_(converter), resolver_(resolver) {}

  // [op] is not `not`, which takes a condition.
  typed::ExprPtr unary(syntax::UnaryOp op, typed::ExprPtr operand, Span span);
  typed::ExprPtr binary(syntax::BinaryOp op, typed::ExprPtr left, typed::ExprPtr right, Span span);
  typed::ExprPtr compare(syntax::CompareOp op, typed::ExprPtr left, typed::ExprPtr right, Span span);

 private:
  // Both are int, float or bool.
  typed::ExprPtr scalarBinary(syntax::BinaryOp op, typed::ExprPtr left, typed::ExprPtr right, Span span);
  typed::ExprPtr compareScalars(syntax::CompareOp op, typed::ExprPtr left, typed::ExprPtr right, Span span);
  // Calls [name]; or [swapped], with swapped operands, if only the right one is a Tensor and [swapped] is not empty.
  typed::ExprPtr tensorBinary(std::string_view name, std::string_view swapped, typed::ExprPtr left,
                              typed::ExprPtr right, Span span);
  typed::ExprPtr orderOrEquality(syntax::CompareOp op, typed::ExprPtr left, typed::ExprPtr right, Span span);
  typed::ExprPtr contains(typed::ExprPtr element, typed::ExprPtr container, Span span);

  InferenceContext& context_;
  Converter& converter_;
  CallResolver& resolver_;
};

}  // namespace boxcar::interp
