#include <boxcar/backends/cuda/event.h>
#include <boxcar/backends/cuda/status.h>

namespace boxcar::cuda {

Event::Event(bool timing) { check(driver().create_event(&handle_, timing), "creating an event"); }

Event::~Event() { driver().destroy_event(handle_); }

void Event::record(CudaStream stream) const {
  check(driver().record_event(handle_, stream.handle), "recording an event");
}

void Event::holdBack(CudaStream stream) const {
  check(driver().wait_event(stream.handle, handle_), "making a stream wait for an event");
}

bool Event::isReached() const {
  const Status status = driver().query_event(handle_);
  if (status == kNotReady) return false;
  check(status, "asking for an event");
  return true;
}

void Event::synchronize() const { check(driver().synchronize_event(handle_), "waiting for an event"); }

float Event::since(const Event& begin) const {
  float milliseconds = 0;
  check(driver().elapsed(&milliseconds, begin.handle_, handle_), "asking for the time between two events");
  return milliseconds;
}

}  // namespace boxcar::cuda
