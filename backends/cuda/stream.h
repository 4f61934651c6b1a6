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

// Returns the stream that this thread uses on the current device.
BOXCAR_API CudaStream currentStream();
// Returns this thread's stream on device [device].
BOXCAR_API CudaStream currentStreamOf(int device);

// Returns a non-default stream from the device's small pool, which is handed out in turn.
CudaStream streamFromPool();
// Returns the current device's stream with number [id]; throws Error if there is none.
CudaStream streamById(int32_t id);
// Returns the current device's stream that is reserved for capturing graphs.
CudaStream streamForCapture();

// Makes [stream] this thread's stream on the current device.
void setCurrentStream(CudaStream stream);

// Makes later work on [later] wait for the work now in [earlier].
void orderStreams(CudaStream earlier, CudaStream later);

// Sends this thread's work on a device to a pool stream during its lifetime. That work starts after the earlier work of
// the previous stream, and later work on the previous stream starts after it. The device is the thread's current one
// meanwhile.
class BOXCAR_API StreamGuard final {
 public:
  // For the current device.
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
// Waits for all streams of the current device, and throws what went wrong on it.
BOXCAR_API void synchronizeDevice();

// What happens to this thread's work on a device.
enum class Recording : uint8_t {
  kNone,
  kRehearsal,  // it runs, but what a graph could not capture throws already
  kCapture,    // it is recorded into a graph and does not run
};
Recording recording() noexcept;
void setRecording(Recording recording) noexcept;
inline bool isCapturing() noexcept { return recording() == Recording::kCapture; }

// Throws Error if this thread's work is being recorded for a graph. [what] says what would have to happen again in each
// replay, but cannot: "waits for the device".
void refuseInGraph(std::string_view what);

}  // namespace boxcar::cuda
