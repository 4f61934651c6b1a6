#pragma once

#include <boxcar/interpreter/prepare/rules.h>
#include <boxcar/interpreter/runtime/module_loader.h>
#include <boxcar/interpreter/syntax/source.h>
#include <boxcar/ivalue/macros.h>

#include <string>
#include <vector>

namespace boxcar::interp {

// Returns the script as a program that does the same in fewer passes over memory: layers, activations and sums become
// one operator (scripts/lib/rewrites.ops), images are in channels_last between the program's edges, and groups of
// pointwise operators are one call. [rules]: more rewrites, tried before those of the library. The text is in the
// layout of formatSource(); a script with errors is returned as it is.
std::string preparedText(const SourcePtr& source, ModuleLoader* loader, const std::vector<const Rules*>& rules = {});

}  // namespace boxcar::interp
