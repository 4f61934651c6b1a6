#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/event.h>
#include <boxcar/backends/cuda/failure.h>
#include <boxcar/backends/cuda/status.h>
#include <boxcar/backends/cuda/stream.h>
#include <boxcar/ivalue/error.h>

#include <array>
#include <atomic>
#include <mutex>

namespace boxcar::cuda {
namespace {

constexpr int32_t kPoolSize = 8;
constexpr int32_t kCaptureStream = kPoolSize + 1;

// A thread's current stream on each device, as a number, because thread-local storage is scarce in a shared library.
thread_local std::array<uint8_t, kMaxDevices> current{};
thread_local Recording recording_now = Recording::kNone;

// Streams live as long as the process, because the driver may be gone before they could be destroyed at exit.
struct Pool {
  std::mutex mutex;
  std::array<std::atomic<StreamHandle>, kCaptureStream> streams{};
  int32_t next = 0;

  // The caller must hold the mutex, and the pool's device must be the current one.
  CudaStream make(int32_t id) {
    std::atomic<StreamHandle>& place = streams[static_cast<size_t>(id - 1)];
    if (place.load(std::memory_order_relaxed) == nullptr) {
      StreamHandle handle = nullptr;
      check(driver().create_stream(&handle), "creating a stream");
      place.store(handle, std::memory_order_release);
    }
    return at(id);
  }
  CudaStream at(int32_t id) const { return {streams[static_cast<size_t>(id - 1)].load(std::memory_order_acquire), id}; }
};

Pool& poolOf(int device) {
  static std::array<Pool, kMaxDevices>& pools = *new std::array<Pool, kMaxDevices>;
  return pools.at(static_cast<size_t>(device));
}

}  // namespace

CudaStream currentStreamOf(int device) {
  const int32_t id = current[static_cast<size_t>(device)];
  return id == 0 ? CudaStream() : poolOf(device).at(id);
}
CudaStream currentStream() { return currentStreamOf(currentDevice()); }

CudaStream streamFromPool() {
  Pool& pool = poolOf(currentDevice());
  const std::lock_guard lock(pool.mutex);
  pool.next = pool.next % kPoolSize + 1;
  return pool.make(pool.next);
}

CudaStream streamById(int32_t id) {
  BOXCAR_CHECK(id >= 0 && id <= kPoolSize, "there is no stream {}; streams are numbered 0 to {}", id, kPoolSize);
  if (id == 0) return {};
  Pool& pool = poolOf(currentDevice());
  const std::lock_guard lock(pool.mutex);
  return pool.make(id);
}

CudaStream streamForCapture() {
  Pool& pool = poolOf(currentDevice());
  const std::lock_guard lock(pool.mutex);
  return pool.make(kCaptureStream);
}

void setCurrentStream(CudaStream stream) {
  current[static_cast<size_t>(currentDevice())] = static_cast<uint8_t>(stream.id);
}

void orderStreams(CudaStream earlier, CudaStream later) {
  if (earlier.handle == later.handle) return;
  const Event event(/*timing=*/false);
  event.record(earlier);
  event.holdBack(later);
}

StreamGuard::StreamGuard() : StreamGuard(currentDevice()) {}

StreamGuard::StreamGuard(int device) : device_before_(currentDevice()), device_(device) {
  refuseInGraph("changes streams");
  setCurrentDevice(device_);
  before_ = currentStream();
  stream_ = streamFromPool();
  orderStreams(before_, stream_);
  setCurrentStream(stream_);
}

StreamGuard::~StreamGuard() {
  try {
    setCurrentDevice(device_);
    setCurrentStream(before_);
    orderStreams(stream_, before_);
    setCurrentDevice(device_before_);
  } catch (const Error&) {
    // The device failed; the next check reports that.
  }
}

void synchronizeStream() {
  refuseInGraph("waits for the device, as where a tensor is read or a result's size depends on elements");
  check(driver().synchronize_stream(currentStream().handle), "waiting for a stream");
  throwFailure();
}

void synchronizeDevice() {
  refuseInGraph("waits for the device");
  check(driver().synchronize_device(), "waiting for the device");
  throwFailure();
}

Recording recording() noexcept { return recording_now; }
void setRecording(Recording recording) noexcept { recording_now = recording; }

void refuseInGraph(std::string_view what) {
  if (recording_now == Recording::kNone) [[likely]]
    return;
  BOXCAR_FAIL("a CUDA graph cannot capture what {}; do that outside of it", what);
}

}  // namespace boxcar::cuda
