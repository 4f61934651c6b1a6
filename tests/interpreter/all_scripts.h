#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace boxcar {

// Returns the paths of all scripts of the project whose tests/data is [data], including those of its tests.
inline std::vector<std::string> allScripts(const std::filesystem::path& data) {
  std::vector<std::string> scripts;
  const std::filesystem::path root = data / ".." / "..";
  for (const auto& folder : {root / "scripts", root / "tests" / "scripts"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == ".ops") scripts.push_back(entry.path().string());
    }
  }
  return scripts;
}

}  // namespace boxcar
