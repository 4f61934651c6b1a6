#pragma once

#include <regex>
#include <string>
#include <vector>

namespace boxcar {

// Returns the cells of the row for [name] in a profile's table.
inline std::vector<std::string> rowOf(const std::string& table, const std::string& name) {
  static const std::regex kGap("  +");
  for (size_t at = 0; at < table.size(); at = table.find('\n', at) + 1) {
    const std::string line = table.substr(at, table.find('\n', at) - at);
    if (!line.starts_with(name + " ")) continue;
    return {std::sregex_token_iterator(line.begin(), line.end(), kGap, -1), std::sregex_token_iterator()};
  }
  return {};
}

}  // namespace boxcar
