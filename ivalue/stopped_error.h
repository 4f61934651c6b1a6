#pragma once

#include <boxcar/ivalue/error.h>

namespace boxcar {

// A StopRequest (stop_request.h) should throw this class: code that turns one error into another lets it pass.
class BOXCAR_API StoppedError : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

}  // namespace boxcar
