#include <boxcar/dispatcher/fallbacks/name_pattern.h>
#include <fnmatch.h>

namespace boxcar {

bool matchesPattern(const OperatorName& name, const std::string& pattern) {
  const std::string full = toString(name);
  const size_t colons = name.name.rfind("::");
  const std::string bare = colons == std::string::npos ? name.name : name.name.substr(colons + 2);
  for (const std::string& text : {full, name.name, bare}) {
    if (text == pattern || fnmatch(pattern.c_str(), text.c_str(), 0) == 0) return true;
  }
  return false;
}

}  // namespace boxcar
