#pragma once

#include <boxcar/interpreter/service/workspace.h>
#include <boxcar/interpreter/syntax/diagnostic.h>

#include <string>
#include <vector>

namespace boxcar::service {

// What `boxcar check` says of a text, and besides what could not be checked, which is information and no fault.
struct Problem {
  enum class Level : uint8_t { Error, Warning, Information };
  Level level;
  Diagnostic what;
};

// All that is wrong in [text] itself, in the order of its places. Nothing is run, and no plugin is loaded: where one is
// missing, names and types are not checked.
BOXCAR_API std::vector<Problem> problems(std::string text, const std::string& name, const Workspace& workspace = {});

}  // namespace boxcar::service
