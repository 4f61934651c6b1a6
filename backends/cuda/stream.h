#pragma once

#include <boxcar/backends/cuda/driver.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>

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

// Makes [stream] the current device's for this thread.
void setCurrentStream(CudaStream stream);

// What is put to [later] from now on begins after what is in [earlier] now.
void orderStreams(CudaStream earlier, CudaStream later);

// Waits for the work of the current stream, and throws what went wrong on the device.
void synchronizeStream();
// The same for all streams of the current device.
void synchronizeDevice();

// Whether this thread's current stream goes into a graph, so that nothing runs.
bool isCapturing();
void setCapturing(bool capturing);

}  // namespace boxcar::cuda
