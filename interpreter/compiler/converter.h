#pragma once

// Conversions of typed expressions to the types of what takes them.

#include <boxcar/interpreter/compiler/inference_context.h>
#include <boxcar/interpreter/compiler/typed_argument.h>
#include <boxcar/interpreter/compiler/typed_program.h>
#include <boxcar/interpreter/runtime/overload.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/type.h>

#include <string_view>
#include <vector>

namespace boxcar::interp {

// Converts values that are assigned, returned or passed.
class Converter {
 public:
  explicit Converter(InferenceContext& context) : context_(context) {}

  // Returns [value] as [target]; the conversion must be allowed.
  typed::ExprPtr convert(typed::ExprPtr value, ConversionTarget target);
  // Also reports an impossible conversion. [what] is, for example, "`x`".
  typed::ExprPtr convertOrReport(typed::ExprPtr value, TypePtr type, std::string_view what);
  // Returns one value per parameter of [schema], as [fit] says. What must be evaluated first goes to [before]. The
  // callee must leave its lists as they are if it [shares_constants].
  std::vector<typed::ExprPtr> arrange(const FunctionSchema& schema, const Fit& fit,
                                      std::vector<TypedArgument> arguments, typed::Block& before, Span span,
                                      bool shares_constants);

 private:
  typed::ExprPtr convertToList(typed::ExprPtr value, ConversionTarget target);

  InferenceContext& context_;
};

}  // namespace boxcar::interp
