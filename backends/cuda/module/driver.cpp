#include <boxcar/backends/cuda/driver.h>
#include <boxcar/backends/cuda/module/parts.h>
#include <cuda_runtime_api.h>
#include <nvtx3/nvToolsExt.h>

// The table of the CUDA runtime, which is linked statically. If there is no driver, it loads nothing and reports that.

namespace boxcar::cuda {
namespace {

cudaStream_t streamOf(StreamHandle handle) { return static_cast<cudaStream_t>(handle); }
cudaEvent_t eventOf(EventHandle handle) { return static_cast<cudaEvent_t>(handle); }
cudaGraphExec_t graphOf(GraphHandle handle) { return static_cast<cudaGraphExec_t>(handle); }

Status deviceCount(int* count) {
  const cudaError_t status = cudaGetDeviceCount(count);
  if (status != cudaSuccess) cudaGetLastError();
  return status;
}

Status versions(int* driver_version, int* runtime_version) {
  const cudaError_t status = cudaDriverGetVersion(driver_version);
  return status != cudaSuccess ? status : cudaRuntimeGetVersion(runtime_version);
}

Status properties(int device, DeviceProperties* properties) {
  cudaDeviceProp read;
  const cudaError_t status = cudaGetDeviceProperties(&read, device);
  if (status == cudaSuccess) {
    *properties = {read.name, read.major, read.minor, read.multiProcessorCount, read.totalGlobalMem};
  }
  return status;
}

Status createStream(StreamHandle* stream) {
  cudaStream_t created = nullptr;
  const cudaError_t status = cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking);
  *stream = created;
  return status;
}

Status createEvent(EventHandle* event, bool timing) {
  cudaEvent_t created = nullptr;
  const cudaError_t status = cudaEventCreateWithFlags(&created, timing ? cudaEventDefault : cudaEventDisableTiming);
  *event = created;
  return status;
}

// Unfinished work is an answer, not an error that the next launch should find.
Status answerOf(cudaError_t status) {
  if (status == cudaErrorNotReady) cudaGetLastError();
  return status;
}

Status beginCapture(StreamHandle stream) {
  // Other threads may still allocate and wait.
  return cudaStreamBeginCapture(streamOf(stream), cudaStreamCaptureModeRelaxed);
}

Status endCapture(StreamHandle stream, GraphHandle* graph) {
  cudaGraph_t captured = nullptr;
  cudaError_t status = cudaStreamEndCapture(streamOf(stream), &captured);
  if (status != cudaSuccess) return status;
  cudaGraphExec_t executable = nullptr;
  status = cudaGraphInstantiate(&executable, captured, 0);
  cudaGraphDestroy(captured);
  *graph = executable;
  return status;
}

bool isPinned(const void* memory) {
  cudaPointerAttributes attributes;
  if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  return attributes.type == cudaMemoryTypeHost;
}

constexpr Driver kCudart = {
    .device_count = deviceCount,
    .versions = versions,
    .properties = properties,
    .set_device = [](int device) -> Status { return cudaSetDevice(device); },
    .get_device = [](int* device) -> Status { return cudaGetDevice(device); },
    .synchronize_device = []() -> Status { return cudaDeviceSynchronize(); },
    .memory = [](size_t* available, size_t* total) -> Status { return cudaMemGetInfo(available, total); },
    .allocate = [](void** memory, size_t bytes) -> Status { return cudaMalloc(memory, bytes); },
    .free = [](void* memory) -> Status { return cudaFree(memory); },
    .allocate_pinned = [](void** memory, size_t bytes) -> Status {
      return cudaHostAlloc(memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
    },
    .free_pinned = [](void* memory) -> Status { return cudaFreeHost(memory); },
    .is_pinned = isPinned,
    .copy = [](void* to, const void* from, size_t bytes, CopyKind kind, StreamHandle stream) -> Status {
      return cudaMemcpyAsync(to, from, bytes, static_cast<cudaMemcpyKind>(kind), streamOf(stream));
    },
    .set = [](void* memory, int byte, size_t bytes, StreamHandle stream) -> Status {
      return cudaMemsetAsync(memory, byte, bytes, streamOf(stream));
    },
    .create_stream = createStream,
    .synchronize_stream = [](StreamHandle stream) -> Status { return cudaStreamSynchronize(streamOf(stream)); },
    .query_stream = [](StreamHandle stream) -> Status { return answerOf(cudaStreamQuery(streamOf(stream))); },
    .wait_event = [](StreamHandle stream, EventHandle event) -> Status {
      return cudaStreamWaitEvent(streamOf(stream), eventOf(event), 0);
    },
    .create_event = createEvent,
    .destroy_event = [](EventHandle event) -> Status { return cudaEventDestroy(eventOf(event)); },
    .record_event = [](EventHandle event, StreamHandle stream) -> Status {
      return cudaEventRecord(eventOf(event), streamOf(stream));
    },
    .query_event = [](EventHandle event) -> Status { return answerOf(cudaEventQuery(eventOf(event))); },
    .synchronize_event = [](EventHandle event) -> Status { return cudaEventSynchronize(eventOf(event)); },
    .elapsed = [](float* milliseconds, EventHandle begin, EventHandle end) -> Status {
      return cudaEventElapsedTime(milliseconds, eventOf(begin), eventOf(end));
    },
    .begin_capture = beginCapture,
    .end_capture = endCapture,
    .launch_graph = [](GraphHandle graph, StreamHandle stream) -> Status {
      return cudaGraphLaunch(graphOf(graph), streamOf(stream));
    },
    .destroy_graph = [](GraphHandle graph) -> Status { return cudaGraphExecDestroy(graphOf(graph)); },
    .begin_range = [](const char* name) { nvtxRangePushA(name); },
    .end_range = [] { nvtxRangePop(); },
    .last_error = []() -> Status { return cudaGetLastError(); },
    .error_name = [](Status status) { return cudaGetErrorName(static_cast<cudaError_t>(status)); },
    .error_text = [](Status status) { return cudaGetErrorString(static_cast<cudaError_t>(status)); },
};

}  // namespace

const Driver& runtimeDriver() { return kCudart; }

}  // namespace boxcar::cuda
