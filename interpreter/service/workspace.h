#pragma once

#include <boxcar/interpreter/service/docstrings.h>

#include <functional>
#include <optional>
#include <string>

namespace boxcar::service {

// The surroundings of a text that is asked about; everything may be left out.
struct Workspace {
  // Returns the text of a file that is being edited, which counts instead of the one on the disk; nullopt for other
  // files. [path] is absolute, without symbolic links.
  std::function<std::optional<std::string>(const std::string& path)> open_text;
  // The docstrings of operators written in C++.
  const Docstrings* docstrings = nullptr;
};

}  // namespace boxcar::service
