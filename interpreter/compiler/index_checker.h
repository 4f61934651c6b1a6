#pragma once

// Indexing: of lists, tuples, strs and dicts by instructions, of tensors by operators.

#include <boxcar/interpreter/compiler/builtin_resolver.h>
#include <boxcar/interpreter/compiler/call_resolver.h>
#include <boxcar/interpreter/compiler/converter.h>
#include <boxcar/interpreter/compiler/expression_checker.h>
#include <boxcar/interpreter/compiler/inference_context.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/syntax/ast.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace boxcar::interp {

// The place in a tensor that an index names.
struct TensorIndex {
  typed::ExprPtr view = nullptr;      // the view after ints, slices and Nones
  typed::ExprPtr indices = nullptr;   // Tensor?[] into the view, null if no tensor indexes
  std::vector<typed::ExprPtr> parts;  // or the whole index, if only the run knows it: its form, then its values
};

// Infers elements and slices.
class IndexChecker {
 public:
  // A part of an index of a tensor.
  struct Part {
    char letter = 'v';                   // `v` a value, `:` a slice, `.` the ellipsis
    std::vector<typed::ExprPtr> values;  // of a slice: start, stop and step
    Span span;
  };

  IndexChecker(InferenceContext& context, Converter& converter, CallResolver& resolver, BuiltinResolver& builtins,
               ExpressionChecker& expressions)
      : context_(context), converter_(converter), resolver_(resolver), builtins_(builtins), expressions_(expressions) {}

  typed::ExprPtr infer(const syntax::Index& index, Span span);
  // [object] is not a Tensor.
  typed::ExprPtr element(typed::ExprPtr object, typed::ExprPtr index, Span span);
  // [object] is a Tensor. The view is a poison if an error was reported.
  TensorIndex tensorIndex(typed::ExprPtr object, const syntax::Expr& index, Span span);
  // Returns the element whose index only the run knows.
  static typed::ExprPtr partsElement(typed::ExprPtr view, std::vector<typed::ExprPtr> parts, Span span);

 private:
  typed::ExprPtr slice(typed::ExprPtr object, const syntax::Slice& slice, Span span);
  typed::ExprPtr sliceBound(const syntax::ExprPtr& bound, Span span, std::string_view what);
  typed::ExprPtr tupleElement(typed::ExprPtr object, typed::ExprPtr index, Span span);
  typed::ExprPtr tensorElement(typed::ExprPtr object, const syntax::Expr& index, Span span);
  // Returns the parts of a tensor's index, in order, with their values inferred; nothing if one is wrong.
  std::optional<std::vector<Part>> indexParts(const syntax::Expr& index);
  // Returns what a slice, None or int leaves of [view]; [passed] dimensions are done, counted from the first or the
  // last.
  typed::ExprPtr viewOf(typed::ExprPtr view, Part& part, int64_t& passed, bool is_from_end, Span span);
  // Makes a tensor of an index that is a list.
  typed::ExprPtr asTensor(typed::ExprPtr index);

  InferenceContext& context_;
  Converter& converter_;
  CallResolver& resolver_;
  BuiltinResolver& builtins_;
  ExpressionChecker& expressions_;
};

}  // namespace boxcar::interp
