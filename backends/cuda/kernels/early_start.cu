#include <boxcar/backends/cuda/kernels/late_start.h>
#include <boxcar/backends/cuda/kernels/launch.h>

#ifdef __CUDACC__

#include <array>
#include <atomic>

namespace boxcar::cuda {
namespace {

thread_local bool starts_late = false;

}  // namespace

LateStart::LateStart() : before_(starts_late) { starts_late = true; }
LateStart::~LateStart() { starts_late = before_; }

namespace detail {
namespace {

struct Nothing {
  __device__ void operator()(int64_t, int) const {}
};

bool canStartEarly(int device) {
  constexpr int kLeastDriver = 12030;
  constexpr int kLeastMajor = 9;
  constexpr int kLeastCode = 90;
  int driver_version = 0;
  checkLaunch(cudaDriverGetVersion(&driver_version));
  int major = 0;
  checkLaunch(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  // A module without code for this device runs on code for an older one, which does not wait.
  cudaFuncAttributes code{};
  checkLaunch(cudaFuncGetAttributes(&code, runGrid<32, Nothing>));
  return driver_version >= kLeastDriver && major >= kLeastMajor && code.ptxVersion >= kLeastCode;
}

}  // namespace

bool startsKernelsEarly(int device) {
  if (starts_late) return false;
  enum class Answer : uint8_t { kUnknown, kNo, kYes };
  static std::array<std::atomic<Answer>, kMaxDevices> known{};
  std::atomic<Answer>& answer = known[static_cast<size_t>(device)];
  if (answer.load(std::memory_order_relaxed) == Answer::kUnknown) {
    answer.store(canStartEarly(device) ? Answer::kYes : Answer::kNo, std::memory_order_relaxed);
  }
  return answer.load(std::memory_order_relaxed) == Answer::kYes;
}

}  // namespace detail
}  // namespace boxcar::cuda

#endif
