#pragma once

#include <boxcar/ivalue/stop_request.h>
#include <boxcar/ivalue/stopped_error.h>

#include <atomic>

namespace boxcar {

// The error that StopAfter throws.
struct Stopped : StoppedError {
  Stopped() : StoppedError("stopped") {}
};

// Ends work after [checks] checks.
class StopAfter final : public StopRequest {
 public:
  explicit StopAfter(int checks) : left_(checks) {}

  void checkStop() const override {
    if (left_.fetch_sub(1) <= 0) throw Stopped();
  }
  int left() const { return left_; }

 private:
  mutable std::atomic<int> left_;
};

}  // namespace boxcar
