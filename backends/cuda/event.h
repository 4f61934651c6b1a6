#pragma once

#include <boxcar/backends/cuda/driver.h>
#include <boxcar/backends/cuda/stream.h>

namespace boxcar::cuda {

// A mark in a stream's work.
class Event final {
 public:
  // With a time, which costs a little, or without.
  explicit Event(bool timing);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // Marks the end of what is in [stream] now.
  void record(CudaStream stream) const;
  // What is put to [stream] from now on waits for the mark.
  void holdBack(CudaStream stream) const;
  // Whether the mark is reached, and waiting for it.
  bool isReached() const;
  void synchronize() const;
  // Milliseconds from the mark of [begin] to this one; both are reached and have times.
  float since(const Event& begin) const;

  EventHandle handle() const { return handle_; }

 private:
  EventHandle handle_ = nullptr;
};

}  // namespace boxcar::cuda
