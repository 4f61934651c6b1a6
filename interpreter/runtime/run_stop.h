#pragma once

#include <boxcar/interpreter/runtime/script_error.h>
#include <boxcar/ivalue/stopped_error.h>

#include <string>
#include <utility>

namespace boxcar::interp {

// Ends a run that has not failed: it was interrupted, or reached a limit.
class RunStop final : public StoppedError {
 public:
  RunStop(std::string message, ScriptErrorCause cause) : StoppedError(std::move(message)), cause_(cause) {}
  ScriptErrorCause cause() const noexcept { return cause_; }

 private:
  ScriptErrorCause cause_;
};

}  // namespace boxcar::interp
