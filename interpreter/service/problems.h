#pragma once

#include <boxcar/interpreter/service/workspace.h>
#include <boxcar/interpreter/syntax/diagnostic.h>

#include <string>
#include <vector>

namespace boxcar::service {

// A message that `boxcar check` gives about a text, or a note about what could not be checked, which is information and
// not a fault.
struct Problem {
  enum class Level : uint8_t { Error, Warning, Information };
  Level level;
  Diagnostic what;
};

// Returns everything that is wrong in [text] itself, in the order of places. Nothing runs and no plugin is loaded: if
// one is missing, names and types are not checked.
BOXCAR_API std::vector<Problem> problems(std::string text, const std::string& name, const Workspace& workspace = {});

}  // namespace boxcar::service
