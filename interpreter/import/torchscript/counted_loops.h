#pragma once

#include <boxcar/interpreter/import/torchscript/syntax.h>

namespace boxcar::interp::torchscript {

// Makes loops over a range of the `while` loops that PyTorch writes for `for` loops with `break`, `continue` or
// `return`: those count, and have a flag that says whether they go on, which becomes a `break`.
void recoverCountedLoops(Function& function);

}  // namespace boxcar::interp::torchscript
