#pragma once

#include <boxcar/ivalue/error.h>

namespace boxcar {

// What a StopRequest (stop_request.h) throws is best one of these: who makes an error of another one lets it pass.
class BOXCAR_API StoppedError : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

}  // namespace boxcar
