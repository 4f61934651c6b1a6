#pragma once

#include <string>

namespace boxcar::service {

// A variable that is set before a text begins, as in an interactive session.
struct KnownVariable {
  std::string name;
  std::string type;  // as a schema writes it; Any where it is none
};

}  // namespace boxcar::service
