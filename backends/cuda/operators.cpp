#include <boxcar/backends/cuda/caching_allocator.h>
#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/stream.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>

#include <optional>
#include <string>

// Device queries and settings for scripts: the operators of ops/cuda.schemas.

namespace boxcar::cuda {
namespace {

int indexOf(std::optional<Device> device) {
  const Device wanted = device.value_or(DeviceType::CUDA);
  BOXCAR_CHECK(wanted.is_cuda(), "'{}' is not a CUDA device; they are 'cuda:0' and so on", wanted);
  return completeDevice(wanted).index();
}

bool hasDevice() { return boxcar::cuda::deviceCount() > 0; }

int64_t countDevices() { return boxcar::cuda::deviceCount(); }

std::string nameOf(std::optional<Device> device) { return propertiesOf(indexOf(device)).name; }

void waitFor(std::optional<Device> device) {
  const DeviceGuard on(indexOf(device));
  synchronizeDevice();
}

Dict<std::string, int64_t> memoryStatistics(std::optional<Device> device) {
  const int index = indexOf(device);
  refuseInGraph("asks how much memory is taken");
  const MemoryStatistics statistics = allocatorOf(index).statistics();
  const auto number = [](uint64_t value) { return static_cast<int64_t>(value); };
  Dict<std::string, int64_t> result;
  result.insert_or_assign("allocated", number(statistics.used));
  result.insert_or_assign("allocated_peak", number(statistics.peak));
  result.insert_or_assign("reserved", number(statistics.reserved));
  result.insert_or_assign("allocations", number(statistics.allocations));
  result.insert_or_assign("device_allocations", number(statistics.device_allocations));
  result.insert_or_assign("retries", number(statistics.retries));
  return result;
}

void resetPeak(std::optional<Device> device) {
  const int index = indexOf(device);
  refuseInGraph("begins the memory's peak again");
  allocatorOf(index).resetPeak();
}

void emptyCache(std::optional<Device> device) {
  const int index = indexOf(device);
  const DeviceGuard on(index);
  refuseInGraph("gives memory back");
  allocatorOf(index).releaseCache();
}

}  // namespace

BOXCAR_LIBRARY_IMPL(cuda, CompositeExplicitAutograd, m) {
  m.impl("is_available", BOXCAR_FN(hasDevice));
  m.impl("device_count", BOXCAR_FN(countDevices));
  m.impl("get_device_name", BOXCAR_FN(nameOf));
  m.impl("synchronize", BOXCAR_FN(waitFor));
  m.impl("memory_stats", BOXCAR_FN(memoryStatistics));
  m.impl("reset_peak_memory_stats", BOXCAR_FN(resetPeak));
  m.impl("empty_cache", BOXCAR_FN(emptyCache));
}

}  // namespace boxcar::cuda
