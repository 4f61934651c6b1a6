#pragma once

#include <boxcar/interpreter/syntax/ast.h>
#include <boxcar/interpreter/syntax/diagnostic.h>

#include <optional>

namespace boxcar::syntax {

// How deep parentheses, blocks, conditionals and other constructs may nest in total.
inline constexpr uint32_t kMaxNesting = 200;

// The maximum height of an expression's tree; each left-associative operator of a chain adds one.
inline constexpr uint32_t kMaxExpressionHeight = 1000;

// Parses a whole script. Reports errors to [diagnostics], in text order, as far as they can be told apart. Statements
// with errors are left out of the tree, which is still valid.
BOXCAR_API SyntaxTree parse(const SourcePtr& source, Diagnostics& diagnostics);

// Whether [source] is an unfinished input: a bracket or a block is open at its end, and nothing before is wrong.
BOXCAR_API bool isUnfinished(const SourcePtr& source);
// Returns the part of an unfinished [source] that need not be parsed again when more text follows
// (TokenStream::settled); nothing if it is not unfinished.
std::optional<Span> settledPartOfUnfinished(const SourcePtr& source);

}  // namespace boxcar::syntax
