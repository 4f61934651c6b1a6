#pragma once

#include <boxcar/backends/cuda/driver.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <string_view>

namespace boxcar::cuda {

// A queue of work on a device.
struct CudaStream {
  StreamHandle handle = nullptr;
  int32_t id = 0;  // 0 is the device's default stream
};

// Where this thread puts work on the current device.
BOXCAR_API CudaStream currentStream();
// Of device [device].
CudaStream currentStreamOf(int device);

// A stream besides the default one, of a few that each device has and that are handed out in turn.
CudaStream streamFromPool();
// The stream of the current device with number [id]; an Error when none has it.
CudaStream streamById(int32_t id);
// The one of the current device that graphs are captured from, and nothing else goes to.
CudaStream streamForCapture();

// Makes [stream] the current device's for this thread.
void setCurrentStream(CudaStream stream);

// What is put to [later] from now on begins after what is in [earlier] now.
void orderStreams(CudaStream earlier, CudaStream later);

// This thread's work on a device goes to a stream of the pool while it lives: it begins after what was put to the
// stream before it, and what follows begins after it. The device is the thread's current one meanwhile.
class BOXCAR_API StreamGuard final {
 public:
  // On the current device.
  StreamGuard();
  explicit StreamGuard(int device);
  ~StreamGuard();
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;

  CudaStream stream() const noexcept { return stream_; }

 private:
  const int device_before_;
  const int device_;
  CudaStream before_;
  CudaStream stream_;
};

// Waits for the work of the current stream, and throws what went wrong on the device.
void synchronizeStream();
// The same for all streams of the current device.
BOXCAR_API void synchronizeDevice();

// What becomes of this thread's work on a device.
enum class Recording : uint8_t {
  kNone,
  kRehearsal,  // it runs; what a graph could not capture is an error already
  kCapture,    // it goes into a graph, so that nothing runs
};
Recording recording() noexcept;
void setRecording(Recording recording) noexcept;
inline bool isCapturing() noexcept { return recording() == Recording::kCapture; }

// An Error where this thread's work is to be captured: [what] would have to happen again in each replay, and cannot.
// "waits for the device".
void refuseInGraph(std::string_view what);

}  // namespace boxcar::cuda
