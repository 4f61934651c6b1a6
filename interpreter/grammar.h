#pragma once

#include <boxcar/interpreter/ast.h>
#include <boxcar/interpreter/diagnostic.h>

#include <optional>

namespace boxcar::syntax {

// How deep parentheses, blocks, conditionals and other constructs may nest, all together.
inline constexpr uint32_t kMaxNesting = 200;

// How high an expression's tree may be; a chain of left-associative operators is as high as it has operators.
inline constexpr uint32_t kMaxExpressionHeight = 1000;

// Reads a whole script. What is wrong is reported to [diagnostics], in the order of the text, as far as it can be told
// apart; statements that are wrong are then left out of the tree, which is still a tree to walk.
BOXCAR_API SyntaxTree parse(const SourcePtr& source, Diagnostics& diagnostics);

// Whether [source] is the beginning of something: a bracket or a block is open at its end, and nothing is wrong before.
BOXCAR_API bool isUnfinished(const SourcePtr& source);
// The same: what need not be read again to tell it of the text with more behind it (TokenStream::settled); nothing
// where it is not unfinished.
std::optional<Span> settledPartOfUnfinished(const SourcePtr& source);

}  // namespace boxcar::syntax
