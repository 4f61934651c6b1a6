#pragma once

#include <boxcar/interpreter/service/docstrings.h>

#include <functional>
#include <optional>
#include <string>

namespace boxcar::service {

// What lies around a text that is asked about; all of it may be left out.
struct Workspace {
  // The text of a file that is being edited, which counts instead of the one on the disk; nothing for other files.
  // [path] is absolute, without symbolic links.
  std::function<std::optional<std::string>(const std::string& path)> open_text;
  // Of operators that are written in C++.
  const Docstrings* docstrings = nullptr;
};

}  // namespace boxcar::service
