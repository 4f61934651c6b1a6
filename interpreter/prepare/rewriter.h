#pragma once

#include <boxcar/interpreter/prepare/rules.h>
#include <boxcar/interpreter/prepare/text_edit.h>
#include <boxcar/interpreter/prepare/typed_script.h>

#include <string>
#include <vector>

namespace boxcar::interp {

// A rewrite of one expression.
struct AppliedRule {
  const Rules* rules;
  const Rule* rule;
  std::string after;  // what takes the expression's place
  std::vector<Edit> edits;
};

// Returns what one pass of the rules does to the functions of [script]: to the expressions that rules describe, the
// outermost of each statement first, each by the first rule that fits and whose conditions hold. Call it again on the
// result until there is nothing.
std::vector<AppliedRule> rewrite(const TypedScript& script, const std::vector<const Rules*>& rules);

}  // namespace boxcar::interp
