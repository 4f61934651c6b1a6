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

// A thread's current stream on each device, by number: room for the state of threads is scarce in a shared library.
thread_local std::array<uint8_t, kMaxDevices> current{};
thread_local bool capturing = false;

// Streams live as long as the process: at its end the driver may be gone before them.
struct Pool {
  std::mutex mutex;
  std::array<std::atomic<StreamHandle>, kPoolSize> streams{};
  int32_t next = 0;

  // The caller holds the mutex, and the pool's device is the current one.
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
  BOXCAR_CHECK(id >= 0 && id <= kPoolSize, "there is no stream {}; streams have the numbers 0 to {}", id, kPoolSize);
  if (id == 0) return {};
  Pool& pool = poolOf(currentDevice());
  const std::lock_guard lock(pool.mutex);
  return pool.make(id);
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

void synchronizeStream() {
  check(driver().synchronize_stream(currentStream().handle), "waiting for a stream");
  throwFailure();
}

void synchronizeDevice() {
  check(driver().synchronize_device(), "waiting for the device");
  throwFailure();
}

bool isCapturing() { return capturing; }
void setCapturing(bool on) { capturing = on; }

}  // namespace boxcar::cuda
