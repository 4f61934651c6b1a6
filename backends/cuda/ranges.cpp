#include <boxcar/backends/cuda/ranges.h>
#include <boxcar/dispatcher/call/record_function.h>

#include <cstdlib>

namespace boxcar::cuda {

void nameCallsForTools(const Driver& driver) {
  const char* const tool = std::getenv("NVTX_INJECTION64_PATH");
  if (tool == nullptr || *tool == '\0') return;
  const auto begin = [&driver](const RecordFunction& call) -> std::unique_ptr<ObserverContext> {
    driver.begin_range(call.name().c_str());
    return nullptr;
  };
  const auto end = [&driver](const RecordFunction&, ObserverContext*) { driver.end_range(); };
  addGlobalCallback(RecordFunctionCallback(begin, end));
}

}  // namespace boxcar::cuda
