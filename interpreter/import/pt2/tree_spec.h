#pragma once

#include <boxcar/interpreter/import/pt2/exported_program.h>

#include <string>
#include <string_view>

namespace boxcar::interp::pt2 {

// Reads what torch.utils._pytree.treespec_dumps() writes, version 1. [what] names the program in errors.
TreeSpec readTreeSpec(std::string_view text, const std::string& what);

}  // namespace boxcar::interp::pt2
