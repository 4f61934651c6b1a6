#pragma once

#include <boxcar/backends/cuda/driver.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// A make-believe CUDA driver with two devices, whose memory is the host's: the backend's host code and its kernels,
// compiled for the host, run on it where there is no GPU. Work runs when it is put to a stream, or is kept for a graph.
// It is strict where a device is: what belongs to no allocation cannot be copied, and waiting while a graph is captured
// is an error.

namespace boxcar::cuda::simulated {

// What a test can ask for, or change. There is one of all devices.
struct Device {
  size_t capacity = size_t{4} << 30;  // bytes of each
  int devices = 2;
  Status count_status = kSuccess;  // what asking for the devices answers; they are asked for once in a process

  // What has happened.
  int allocations = 0;
  int frees = 0;
  int launches = 0;
  int graph_launches = 0;
  int device_waits = 0;
  int stream_waits = 0;
  int event_waits = 0;                           // of a stream for another
  std::vector<std::string> ranges;               // their names as they began, "end" where one did
  bool has_attention = true;                     // as if cuDNN took each call of attention
  std::vector<std::vector<int64_t>> attentions;  // their numbers, planKey(call)
  // The next launch of a kernel fails with this, then all go well again.
  Status next_launch = kSuccess;
};
Device& device();

// Bytes that are allocated on device [index].
size_t allocatedBytes(int index);

}  // namespace boxcar::cuda::simulated
