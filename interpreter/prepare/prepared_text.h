#pragma once

#include <boxcar/interpreter/prepare/rules.h>
#include <boxcar/interpreter/runtime/module_loader.h>
#include <boxcar/interpreter/syntax/source.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <string>
#include <vector>

namespace boxcar::interp {

// Whether a script is a program, or a file of one, whose functions others call.
enum class ScriptRole : uint8_t { Program, Imported };

// Returns the script as a program that does the same in fewer passes over memory: layers, activations and sums become
// one operator (scripts/lib/rewrites.ops), images are in channels_last between the edges of a program, constants are
// computed, and groups of pointwise operators are one call. [rules]: more rewrites, tried before those of the library.
// The text is in the layout of formatSource(); a script with errors is returned as it is.
std::string preparedText(const SourcePtr& source, ModuleLoader* loader, const std::vector<const Rules*>& rules = {},
                         ScriptRole role = ScriptRole::Program);

}  // namespace boxcar::interp
