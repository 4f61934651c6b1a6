#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/name_pattern.h>
#include <fnmatch.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace boxcar {

bool matchesPattern(const OperatorName& name, const std::string& pattern) {
  const std::string_view qualified = name.name;
  const size_t colons = qualified.rfind("::");
  const std::string_view bare = colons == std::string_view::npos ? qualified : qualified.substr(colons + 2);
  // Handlers call this for every call. Most patterns are plain names, which need no formatted text.
  if (pattern.find_first_of("*?[\\") == std::string::npos) {
    if (pattern == qualified || pattern == bare) return true;
    if (pattern.size() <= qualified.size() || !pattern.starts_with(qualified)) return false;
    return pattern == toString(name) ||
           (name.overload_name.empty() && std::string_view(pattern).substr(qualified.size()) == ".default");
  }
  for (const std::string& text : {toString(name), name.name, std::string(bare)}) {
    if (fnmatch(pattern.c_str(), text.c_str(), 0) == 0) return true;
  }
  return false;
}

bool matchesSomeOperator(const std::string& pattern) {
  const std::vector<OperatorName> names = Dispatcher::singleton().getAllOpNames();
  return std::ranges::any_of(names, [&](const OperatorName& name) { return matchesPattern(name, pattern); });
}

}  // namespace boxcar
