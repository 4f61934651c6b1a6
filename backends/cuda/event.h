#pragma once

#include <boxcar/backends/cuda/driver.h>
#include <boxcar/backends/cuda/stream.h>

namespace boxcar::cuda {

// A marker in a stream's work.
class Event final {
 public:
  // [timing]: whether the event records a time, which costs a little.
  explicit Event(bool timing);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // Marks the end of the work now in [stream].
  void record(CudaStream stream) const;
  // Makes later work on [stream] wait for the marker.
  void holdBack(CudaStream stream) const;
  // Whether the marker has been reached; synchronize() waits for it.
  bool isReached() const;
  void synchronize() const;
  // Returns the milliseconds from [begin] to this event. Both must have been reached and record times.
  float since(const Event& begin) const;

  EventHandle handle() const { return handle_; }

 private:
  EventHandle handle_ = nullptr;
};

}  // namespace boxcar::cuda
