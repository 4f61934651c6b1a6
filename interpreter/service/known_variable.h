#pragma once

#include <string>
#include <vector>

namespace boxcar::service {

// A variable that is set before a text begins, as in an interactive session.
struct KnownVariable {
  std::string name;
  std::string type;  // as in a schema; Any if a schema has no such type
  // For a dict with str keys: the keys that can be written between quotes as they are.
  std::vector<std::string> keys = {};
};

}  // namespace boxcar::service
