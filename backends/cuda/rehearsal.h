#pragma once

#include <boxcar/backends/cuda/stream.h>

namespace boxcar::cuda {

// During its lifetime, operations on this thread that a graph could not capture, such as waiting for the device, throw.
class RehearsalGuard final {
 public:
  RehearsalGuard() : before_(recording()) { setRecording(Recording::kRehearsal); }
  ~RehearsalGuard() { setRecording(before_); }
  RehearsalGuard(const RehearsalGuard&) = delete;
  RehearsalGuard& operator=(const RehearsalGuard&) = delete;

 private:
  const Recording before_;
};

}  // namespace boxcar::cuda
