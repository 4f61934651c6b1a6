#pragma once

#include <boxcar/backends/native/pointwise_expression.h>
#include <boxcar/backends/native/pointwise_program.h>
#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

namespace boxcar::composite {

// A text of fused::pointwise, parsed, and its program if it has one.
struct FusedExpression {
  native::PointwiseExpression expression;
  std::optional<native::PointwiseProgram> program;
};

// Returns the expression of [text]; one that was used lately is not parsed again. It lives until this thread asks for
// other texts. Throws Error if the text is not an expression.
const std::shared_ptr<const FusedExpression>& fusedExpression(std::string_view text);

// How many expressions are kept for all threads, and at most.
inline constexpr size_t kMostFusedExpressions = 1024;
BOXCAR_API size_t keptFusedExpressions();

}  // namespace boxcar::composite
