#pragma once

#include <boxcar/interpreter/import/torchscript/syntax.h>
#include <boxcar/ivalue/macros.h>

#include <string>
#include <unordered_map>

namespace boxcar::interp::torchscript {

// PyTorch prints a variable that has several values as several: x, x0, x1. Returns the names under which a script can
// have them, for those that share a name with another: variables whose values are never needed at the same time. Those
// joined by a copy come first, then those with the same name but for the number at its end. A parameter keeps its name.
// Left out are variables whose type the script fixes, such as an empty list, and those of a fork.
//
// [skips_unset]: the script will not assign `uninitialized(T)` to a variable that has a value already, so that it keeps
// that value.
//
// The result is for reading each variable's type by its old name and writing it by its new one, so that merging changes
// no type. The copies that have become `x = x` can be left out.
BOXCAR_API std::unordered_map<std::string, std::string> renamedVariables(const Function& function,
                                                                         bool skips_unset = false);

}  // namespace boxcar::interp::torchscript
