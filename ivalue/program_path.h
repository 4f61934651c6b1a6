#pragma once

#include <string_view>

namespace boxcar {

// One of several programs of an archive: "m.pt2:encoder".
struct ProgramPath {
  std::string_view file;
  std::string_view program;  // empty if the path names none
};

// Returns the parts of [path], which lie in it.
constexpr ProgramPath splitProgramPath(std::string_view path) noexcept {
  constexpr std::string_view kEnd = ".pt2:";
  const size_t at = path.rfind(kEnd);
  if (at == std::string_view::npos) return {path, {}};
  return {path.substr(0, at + kEnd.size() - 1), path.substr(at + kEnd.size())};
}

}  // namespace boxcar
