#pragma once

#include <boxcar/interpreter/bytecode/bytecode.h>
#include <boxcar/interpreter/syntax/diagnostic.h>

#include <string_view>

namespace boxcar::interp {

// Finds the files that a script imports while it is compiled.
class ModuleLoader {
 public:
  virtual ~ModuleLoader() = default;

  // Returns the compiled script in the file that [source] imports as [path] at [span]. Returns null for a plugin, which
  // is loaded, and for errors, which are reported to [diagnostics].
  virtual const CodeUnit* load(const SourcePtr& source, std::string_view path, Span span, Diagnostics& diagnostics) = 0;
};

}  // namespace boxcar::interp
