#pragma once

#include <boxcar/interpreter/import/pt2/exported_program.h>

namespace boxcar::interp::pt2 {

// Whether a node is a call of an operator that takes graphs, such as torch.cond.
bool isHigherOrder(const Node& node);
// Whether such a call has a form in a script.
bool hasHigherOrderText(const Node& node);

}  // namespace boxcar::interp::pt2
