#pragma once

#include <boxcar/interpreter/syntax/ast.h>

namespace boxcar::syntax {

// The height of the highest child of a node; 0 for a leaf.
uint32_t heightOfChildren(const Expr::Node& node);

}  // namespace boxcar::syntax
