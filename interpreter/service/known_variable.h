#pragma once

#include <string>
#include <vector>

namespace boxcar::service {

// A variable that is set before a text begins, as in an interactive session.
struct KnownVariable {
  std::string name;
  std::string type;  // as a schema writes it; Any where it is none
  // Of a dict whose keys are strs, those that can be written between quotes as they are.
  std::vector<std::string> keys = {};
};

}  // namespace boxcar::service
