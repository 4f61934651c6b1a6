#include <boxcar/backends/cuda/environment.h>
#include <boxcar/backends/cuda/failure.h>
#include <boxcar/backends/cuda/status.h>
#include <boxcar/backends/cuda/stream.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <array>

namespace boxcar::cuda {
namespace {

// Returns whether the error stays: CUDA then fails every later call of the process. These are faults of kernels
// (cudaErrorIllegalAddress and its like) and of memory.
bool stays(Status status) {
  constexpr std::array kStaying{214, 700, 702, 710, 714, 715, 716, 717, 718, 719};
  return std::ranges::find(kStaying, status) != kStaying.end();
}

}  // namespace

void check(Status status, std::string_view doing) {
  if (status == kSuccess) [[likely]]
    return;
  const Driver& cuda = driver();
  cuda.last_error();  // reported here, so the next launch must not report it again
  const char* const cause = waitsForEachLaunch() ? ""
                                                 : ". The cause may be an earlier operator, because kernels run "
                                                   "asynchronously; with BOXCAR_CUDA_SYNC=1 in the environment the "
                                                   "operator that caused it reports it";
  const char* const remedy = stays(status) ? ". CUDA fails all later calls of this process; start it again" : "";
  BOXCAR_FAIL("CUDA failed while {}: {} ({}, error {}){}{}", doing, cuda.error_text(status), cuda.error_name(status),
              status, cause, remedy);
}

bool waitsForEachLaunch() {
  static const bool waits = isSwitchedOn("BOXCAR_CUDA_SYNC");
  return waits;
}

void checkLaunch() { checkLaunch(driver().last_error()); }

void checkLaunch(Status status) {
  check(status, "starting a kernel");
  if (!waitsForEachLaunch()) [[likely]]
    return;
  if (isCapturing()) return;  // nothing runs, so there is nothing to wait for
  check(driver().synchronize_stream(currentStream().handle), "waiting for a kernel");
  throwFailure();
}

}  // namespace boxcar::cuda
