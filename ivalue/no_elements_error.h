#pragma once

#include <boxcar/ivalue/error.h>

namespace boxcar {

// Thrown where elements of a tensor are needed that has none, because it is fake or on the meta device, and where an
// operator has no kernel that does without.
class BOXCAR_API NoElementsError : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

}  // namespace boxcar
