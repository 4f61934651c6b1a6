#pragma once

#include <boxcar/interpreter/prepare/text_edit.h>
#include <boxcar/interpreter/prepare/typed_script.h>

#include <vector>

namespace boxcar::interp {

// Returns the changes that write the values of constant expressions, where these are shorter, in place of them, and
// that remove branches which never run. Call it until there are no changes.
std::vector<Edit> foldConstants(const TypedScript& script);

}  // namespace boxcar::interp
