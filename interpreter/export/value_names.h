#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace boxcar::interp::exported {

// The names of the values of a graph, which are variables of the Python text that PyTorch makes of it.
class ValueNames final {
 public:
  // Returns [wanted], or the first of wanted_1, wanted_2 … that is not taken and means nothing in Python. Characters
  // that no variable has become `_`.
  std::string take(std::string_view wanted);

 private:
  std::set<std::string, std::less<>> taken_;
  std::map<std::string, int, std::less<>> last_number_;
};

}  // namespace boxcar::interp::exported
