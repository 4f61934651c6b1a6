#pragma once

#include <boxcar/interpreter/bytecode.h>
#include <boxcar/interpreter/diagnostic.h>

#include <string_view>

namespace boxcar::interp {

// Who finds the files that a script imports, while it is compiled.
class ModuleLoader {
 public:
  virtual ~ModuleLoader() = default;

  // The script in the file that [source] imports as [path] at [span], compiled. Null for a plugin, which is loaded, and
  // where something is wrong, which is reported to [diagnostics].
  virtual const CodeUnit* load(const SourcePtr& source, std::string_view path, Span span, Diagnostics& diagnostics) = 0;
};

}  // namespace boxcar::interp
