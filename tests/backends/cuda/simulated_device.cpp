#include "tests/backends/cuda/simulated_device.h"

#include <boxcar/backends/cuda/module/parts.h>
#include <boxcar/backends/cuda/simulated_launch.h>
#include <boxcar/backends/cuda/stream.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::cuda {
namespace simulated {
namespace {

constexpr Status kInvalidValue = 1;
constexpr Status kCaptureUnsupported = 900;  // cudaErrorStreamCaptureUnsupported
constexpr Status kCaptureInvalidated = 901;

using Work = std::function<void()>;
using Graph = std::vector<Work>;

struct Stream {
  std::unique_ptr<Graph> capture;
  bool invalidated = false;
};

struct Event {
  bool recorded = false;
  uint64_t ticks = 0;
};

struct State {
  std::recursive_mutex mutex;
  Device device;
  std::map<void*, std::pair<size_t, int>> memory;  // size and device of each allocation
  std::map<void*, size_t> pinned;
  std::array<size_t, 2> used{};
  Status last_error = kSuccess;
  uint64_t ticks = 0;
};
State& state() {
  static State& the = *new State;
  return the;
}
thread_local int current_device = 0;

Stream* streamOf(StreamHandle handle) { return static_cast<Stream*>(handle); }

// Runs work, or adds it to the graph that the stream captures.
Status put(StreamHandle handle, Work work) {
  ++state().ticks;
  Stream* const stream = streamOf(handle);
  if (stream != nullptr && stream->capture) {
    stream->capture->push_back(std::move(work));
  } else {
    work();
  }
  return kSuccess;
}

// Waiting for a capturing stream invalidates its graph.
Status refuseInCapture(StreamHandle handle) {
  Stream* const stream = streamOf(handle);
  if (stream == nullptr || !stream->capture) return kSuccess;
  stream->invalidated = true;
  return state().last_error = kCaptureUnsupported;
}

bool isWithin(const std::map<void*, std::pair<size_t, int>>& blocks, const void* memory, size_t bytes) {
  auto block = blocks.upper_bound(const_cast<void*>(memory));
  if (block == blocks.begin()) return false;
  --block;
  const auto* const begin = static_cast<const char*>(block->first);
  return static_cast<const char*>(memory) + bytes <= begin + block->second.first;
}

Status allocate(void** memory, size_t bytes) {
  const std::lock_guard lock(state().mutex);
  size_t& used = state().used[static_cast<size_t>(current_device)];
  if (used + bytes > state().device.capacity) return state().last_error = kOutOfMemory;
  *memory = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  if (*memory == nullptr) return state().last_error = kOutOfMemory;
  // Reading uninitialized memory gives NaN.
  std::memset(*memory, 0xff, bytes);
  used += bytes;
  state().memory[*memory] = {bytes, current_device};
  ++state().device.allocations;
  return kSuccess;
}

Status release(void* memory) {
  const std::lock_guard lock(state().mutex);
  const auto block = state().memory.find(memory);
  if (block == state().memory.end()) return state().last_error = kInvalidValue;
  state().used[static_cast<size_t>(block->second.second)] -= block->second.first;
  state().memory.erase(block);
  std::free(memory);
  ++state().device.frees;
  return kSuccess;
}

Status copy(void* to, const void* from, size_t bytes, CopyKind kind, StreamHandle stream) {
  const std::lock_guard lock(state().mutex);
  if (bytes == 0) return kSuccess;
  const bool to_device = kind != CopyKind::kDeviceToHost;
  const bool from_device = kind != CopyKind::kHostToDevice;
  if (isWithin(state().memory, to, bytes) != to_device || isWithin(state().memory, from, bytes) != from_device)
    return state().last_error = kInvalidValue;
  return put(stream, [=] { std::memmove(to, from, bytes); });
}

Status beginCapture(StreamHandle handle) {
  Stream* const stream = streamOf(handle);
  if (stream == nullptr) return kCaptureUnsupported;
  stream->capture = std::make_unique<Graph>();
  stream->invalidated = false;
  return kSuccess;
}

Status endCapture(StreamHandle handle, GraphHandle* graph) {
  Stream* const stream = streamOf(handle);
  std::unique_ptr<Graph> captured = std::move(stream->capture);
  if (stream->invalidated) return state().last_error = kCaptureInvalidated;
  *graph = captured.release();
  return kSuccess;
}

const char* nameOf(Status status) {
  switch (status) {
    case kSuccess: return "cudaSuccess";
    case kInvalidValue: return "cudaErrorInvalidValue";
    case kOutOfMemory: return "cudaErrorMemoryAllocation";
    case kInsufficientDriver: return "cudaErrorInsufficientDriver";
    case kNoDevice: return "cudaErrorNoDevice";
    case kNotReady: return "cudaErrorNotReady";
    case kCaptureUnsupported: return "cudaErrorStreamCaptureUnsupported";
    case kCaptureInvalidated: return "cudaErrorStreamCaptureInvalidated";
    default: return "cudaErrorUnknown";
  }
}

const char* textOf(Status status) {
  switch (status) {
    case kInvalidValue: return "invalid argument";
    case kOutOfMemory: return "out of memory";
    case kInsufficientDriver: return "CUDA driver version is insufficient for CUDA runtime version";
    case kNoDevice: return "no CUDA-capable device is detected";
    case kCaptureUnsupported: return "operation not permitted when stream is capturing";
    case kCaptureInvalidated: return "operation failed due to a previous error during capture";
    default: return "unknown error";
  }
}

// Lets programs simulate a missing driver or one for an older CUDA.
bool hasDriver(std::string_view kind) {
  const char* const devices = std::getenv("BOXCAR_SIMULATED_DEVICES");
  return devices != nullptr && devices == kind;
}
bool hasNoDriver() { return hasDriver("none"); }
bool hasOldDriver() { return hasDriver("old"); }

constexpr Driver kSimulated = {
    .device_count = [](int* count) -> Status {
      if (hasOldDriver() || hasNoDriver()) return kInsufficientDriver;
      if (state().device.count_status == kSuccess) *count = state().device.devices;
      return state().device.count_status;
    },
    .versions = [](int* driver, int* runtime) -> Status {
      *runtime = 13000;
      *driver = hasNoDriver() ? 0 : hasOldDriver() ? 12040 : 13000;
      return kSuccess;
    },
    .properties = [](int, DeviceProperties* properties) -> Status {
      *properties = {"simulated device", 9, 0, 4, state().device.capacity};
      return kSuccess;
    },
    .set_device = [](int index) -> Status {
      if (index < 0 || index >= state().device.devices) return kInvalidValue;
      current_device = index;
      return kSuccess;
    },
    .get_device = [](int* index) -> Status {
      *index = current_device;
      return kSuccess;
    },
    .synchronize_device = []() -> Status {
      ++state().device.device_waits;
      return kSuccess;
    },
    .memory = [](size_t* available, size_t* total) -> Status {
      *total = state().device.capacity;
      *available = *total - state().used[static_cast<size_t>(current_device)];
      return kSuccess;
    },
    .allocate = allocate,
    .free = release,
    .allocate_pinned = [](void** memory, size_t bytes) -> Status {
      const std::lock_guard lock(state().mutex);
      *memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
      state().pinned[*memory] = bytes;
      return kSuccess;
    },
    .free_pinned = [](void* memory) -> Status {
      const std::lock_guard lock(state().mutex);
      state().pinned.erase(memory);
      std::free(memory);
      return kSuccess;
    },
    .is_pinned =
        [](const void* memory) {
          const std::lock_guard lock(state().mutex);
          auto block = state().pinned.upper_bound(const_cast<void*>(memory));
          if (block == state().pinned.begin()) return false;
          --block;
          return static_cast<const char*>(memory) < static_cast<const char*>(block->first) + block->second;
        },
    .copy = copy,
    .set = [](void* memory, int byte, size_t bytes, StreamHandle stream) -> Status {
      if (!isWithin(state().memory, memory, bytes)) return state().last_error = kInvalidValue;
      return put(stream, [=] { std::memset(memory, byte, bytes); });
    },
    .create_stream = [](StreamHandle* stream) -> Status {
      *stream = new Stream;
      return kSuccess;
    },
    .synchronize_stream = [](StreamHandle stream) -> Status {
      ++state().device.stream_waits;
      return refuseInCapture(stream);
    },
    .query_stream = [](StreamHandle stream) -> Status { return refuseInCapture(stream); },
    .wait_event = [](StreamHandle, EventHandle) -> Status {
      ++state().device.event_waits;
      return kSuccess;
    },
    .create_event = [](EventHandle* event, bool) -> Status {
      *event = new Event;
      return kSuccess;
    },
    .destroy_event = [](EventHandle event) -> Status {
      delete static_cast<Event*>(event);
      return kSuccess;
    },
    .record_event = [](EventHandle event, StreamHandle) -> Status {
      *static_cast<Event*>(event) = {true, state().ticks};
      return kSuccess;
    },
    .query_event = [](EventHandle) -> Status { return kSuccess; },
    .synchronize_event = [](EventHandle) -> Status { return kSuccess; },
    .elapsed = [](float* milliseconds, EventHandle begin, EventHandle end) -> Status {
      // One millisecond for each piece of work.
      *milliseconds = static_cast<float>(static_cast<Event*>(end)->ticks - static_cast<Event*>(begin)->ticks);
      return kSuccess;
    },
    .begin_capture = beginCapture,
    .end_capture = endCapture,
    .launch_graph = [](GraphHandle graph, StreamHandle) -> Status {
      ++state().device.graph_launches;
      for (const Work& work : *static_cast<Graph*>(graph)) work();
      return kSuccess;
    },
    .destroy_graph = [](GraphHandle graph) -> Status {
      delete static_cast<Graph*>(graph);
      return kSuccess;
    },
    .begin_range =
        [](const char* name) {
          const std::lock_guard lock(state().mutex);
          state().device.ranges.push_back(name);
        },
    .end_range =
        [] {
          const std::lock_guard lock(state().mutex);
          state().device.ranges.push_back("end");
        },
    .last_error = []() -> Status { return std::exchange(state().last_error, kSuccess); },
    .error_name = nameOf,
    .error_text = textOf,
};

}  // namespace

Device& device() { return state().device; }

size_t allocatedBytes(int index) { return state().used[static_cast<size_t>(index)]; }

}  // namespace simulated

const Driver& runtimeDriver() { return simulated::kSimulated; }

void enqueueSimulated(std::function<void()> work) {
  simulated::State& state = simulated::state();
  ++state.device.launches;
  const Status status = std::exchange(state.device.next_launch, kSuccess);
  if (status != kSuccess) {
    state.last_error = status;
    return;
  }
  simulated::put(currentStream().handle, std::move(work));
}

}  // namespace boxcar::cuda
