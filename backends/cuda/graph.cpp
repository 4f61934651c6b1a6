#include <boxcar/backends/cuda/caching_allocator.h>
#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/graph.h>
#include <boxcar/backends/cuda/status.h>
#include <boxcar/backends/cuda/stream.h>
#include <boxcar/ivalue/error.h>

#include <array>
#include <atomic>
#include <mutex>

namespace boxcar::cuda {
namespace {

std::atomic<uint64_t> last_id = 0;

// Only one thread at a time captures on a device, because each device has one stream for that.
std::mutex& captureMutexOf(int device) {
  static std::array<std::mutex, kMaxDevices> mutexes;
  return mutexes.at(static_cast<size_t>(device));
}

// During its lifetime, the thread's work on the device goes to the capture stream and allocates from the memory of
// graph [id].
class CaptureGuard final {
 public:
  CaptureGuard(int device, uint64_t id)
      : device_(device),
        lock_(captureMutexOf(device)),
        before_(currentStream()),
        recording_before_(recording()),
        stream_(streamForCapture()) {
    check(driver().begin_capture(stream_.handle), "beginning to capture a graph");
    allocatorOf(device_).setGraph(id, stream_.handle);
    setCurrentStream(stream_);
    setRecording(Recording::kCapture);
  }
  ~CaptureGuard() {
    GraphHandle unwanted = nullptr;
    if (!ended_ && driver().end_capture(stream_.handle, &unwanted) == kSuccess) driver().destroy_graph(unwanted);
    if (!ended_) driver().last_error();
    setRecording(recording_before_);
    setCurrentStream(before_);
    allocatorOf(device_).setGraph(0, nullptr);
  }
  CaptureGuard(const CaptureGuard&) = delete;
  CaptureGuard& operator=(const CaptureGuard&) = delete;

  GraphHandle end() {
    ended_ = true;
    GraphHandle graph = nullptr;
    check(driver().end_capture(stream_.handle, &graph), "ending the capture of a graph");
    return graph;
  }

 private:
  const int device_;
  const std::lock_guard<std::mutex> lock_;
  const CudaStream before_;
  const Recording recording_before_;
  const CudaStream stream_;
  bool ended_ = false;
};

}  // namespace

Graph::Graph() : device_(currentDevice()), id_(++last_id) {}

Graph::~Graph() {
  const DeviceGuard on(device_);
  if (handle_ != nullptr) driver().destroy_graph(handle_);
  allocatorOf(device_).releaseGraph(id_);
}

void Graph::capture(const std::function<void()>& work) {
  BOXCAR_CHECK(handle_ == nullptr, "this graph was captured already; make another one");
  BOXCAR_CHECK(!isCapturing(), "a graph is being captured on this thread already; graphs do not nest");
  const DeviceGuard on(device_);
  CaptureGuard capture(device_, id_);
  work();
  handle_ = capture.end();
}

void Graph::launch() const {
  BOXCAR_CHECK(handle_ != nullptr, "this graph was not captured yet");
  refuseInGraph("launches another graph");
  const DeviceGuard on(device_);
  check(driver().launch_graph(handle_, currentStream().handle), "launching a graph");
  if (waitsForEachLaunch()) synchronizeStream();
}

}  // namespace boxcar::cuda
