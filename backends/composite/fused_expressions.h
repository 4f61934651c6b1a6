#pragma once

#include <boxcar/backends/native/pointwise_expression.h>
#include <boxcar/backends/native/pointwise_program.h>
#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace boxcar::composite {

// A text of fused::pointwise, parsed, and its programs: at most one for each dtype that has some.
struct FusedExpression {
  native::PointwiseExpression expression;
  std::vector<native::PointwiseProgram> programs;
};

// Returns the expression of [text]; one that was used lately is not parsed again. It lives until this thread asks for
// other texts. Throws Error if the text is not an expression.
const std::shared_ptr<const FusedExpression>& fusedExpression(std::string_view text);

// How many expressions are kept for all threads, and at most.
inline constexpr size_t kMostFusedExpressions = 1024;
BOXCAR_API size_t keptFusedExpressions();

}  // namespace boxcar::composite
