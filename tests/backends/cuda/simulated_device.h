#pragma once

#include <boxcar/backends/cuda/driver.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// A simulated CUDA driver with two devices in host memory. It runs the backend's host code and its kernels, compiled
// for the host, if there is no GPU. Work runs when it is enqueued to a stream, or is kept for a graph. Like a device,
// it is strict: memory outside of any allocation cannot be copied, and waiting during graph capture is an error.

namespace boxcar::cuda::simulated {

// State that tests can read or change. All devices share one.
struct Device {
  size_t capacity = size_t{4} << 30;  // bytes per device
  int devices = 2;
  Status count_status = kSuccess;  // result of counting devices, once per process

  // Counts of events so far.
  int allocations = 0;
  int frees = 0;
  int launches = 0;
  int graph_launches = 0;
  int device_waits = 0;
  int stream_waits = 0;
  int event_waits = 0;                           // waits of one stream for another
  std::vector<std::string> ranges;               // their names as they began, "end" where one did
  bool has_attention = true;                     // whether cuDNN accepts all calls of attention
  std::vector<std::vector<int64_t>> attentions;  // planKey(call) of each call
  // The status of the next kernel launch; later launches succeed again.
  Status next_launch = kSuccess;
};
Device& device();

// Returns the bytes allocated on device [index].
size_t allocatedBytes(int index);

}  // namespace boxcar::cuda::simulated
