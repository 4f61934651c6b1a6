#pragma once

#include <boxcar/ivalue/error.h>

namespace boxcar {

// Thrown where elements of a tensor are read that has none, because it is fake.
class BOXCAR_API NoElementsError : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

}  // namespace boxcar
