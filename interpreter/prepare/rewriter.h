#pragma once

#include <boxcar/interpreter/prepare/rules.h>
#include <boxcar/interpreter/prepare/text_edit.h>
#include <boxcar/interpreter/prepare/typed_script.h>

#include <vector>

namespace boxcar::interp {

// Returns the changes that one pass of the rules makes to the functions of [script]: of the expressions that rules
// describe, the outermost of each statement first, each by the first rule that fits. Call it again on the result until
// there are no changes.
std::vector<Edit> rewrite(const TypedScript& script, const std::vector<const Rules*>& rules);

}  // namespace boxcar::interp
