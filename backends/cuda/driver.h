#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

// The functions of the CUDA runtime that the backend uses, as a table. module/driver.cpp fills it; tests replace it
// with a simulated device. The functions return a cudaError_t, where 0 means success.

namespace boxcar::cuda {

using Status = int;
inline constexpr Status kSuccess = 0;
inline constexpr Status kOutOfMemory = 2;          // cudaErrorMemoryAllocation
inline constexpr Status kInsufficientDriver = 35;  // cudaErrorInsufficientDriver
inline constexpr Status kNoDevice = 100;           // cudaErrorNoDevice
inline constexpr Status kNotReady = 600;           // cudaErrorNotReady

using StreamHandle = void*;  // cudaStream_t; null is the default stream
using EventHandle = void*;   // cudaEvent_t
using GraphHandle = void*;   // cudaGraphExec_t

enum class CopyKind : int { kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3 };  // cudaMemcpyKind

// The properties of a device.
struct DeviceProperties {
  std::string name;
  int major = 0;
  int minor = 0;
  int multiprocessors = 0;
  size_t memory = 0;  // bytes
};

struct Driver {
  // Does not change [count] on failure.
  Status (*device_count)(int* count);
  // The versions of the driver and of the runtime, as 1000 * major + 10 * minor.
  Status (*versions)(int* driver, int* runtime);
  Status (*properties)(int device, DeviceProperties* properties);
  Status (*set_device)(int device);
  Status (*get_device)(int* device);
  Status (*synchronize_device)();
  Status (*memory)(size_t* available, size_t* total);

  Status (*allocate)(void** memory, size_t bytes);
  Status (*free)(void* memory);
  // Host memory that a device can access directly, at the same address.
  Status (*allocate_pinned)(void** memory, size_t bytes);
  Status (*free_pinned)(void* memory);
  // Whether [memory] is pinned.
  bool (*is_pinned)(const void* memory);
  Status (*copy)(void* to, const void* from, size_t bytes, CopyKind kind, StreamHandle stream);
  Status (*set)(void* memory, int byte, size_t bytes, StreamHandle stream);

  Status (*create_stream)(StreamHandle* stream);
  Status (*synchronize_stream)(StreamHandle stream);
  // kNotReady while there is unfinished work.
  Status (*query_stream)(StreamHandle stream);
  Status (*wait_event)(StreamHandle stream, EventHandle event);

  Status (*create_event)(EventHandle* event, bool timing);
  Status (*destroy_event)(EventHandle event);
  Status (*record_event)(EventHandle event, StreamHandle stream);
  Status (*query_event)(EventHandle event);
  Status (*synchronize_event)(EventHandle event);
  Status (*elapsed)(float* milliseconds, EventHandle begin, EventHandle end);

  // From here on, work put on the stream is recorded into a graph instead of run.
  Status (*begin_capture)(StreamHandle stream);
  Status (*end_capture)(StreamHandle stream, GraphHandle* graph);
  Status (*launch_graph)(GraphHandle graph, StreamHandle stream);
  Status (*destroy_graph)(GraphHandle graph);

  // A named range on this thread's timeline, for tools that listen (NVTX). Ranges end in reverse order.
  void (*begin_range)(const char* name);
  void (*end_range)();

  // Returns and clears the error of a launch or of earlier work.
  Status (*last_error)();
  const char* (*error_name)(Status status);
  const char* (*error_text)(Status status);
};

// Returns the table in use.
const Driver& driver();

}  // namespace boxcar::cuda
