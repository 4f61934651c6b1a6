#include <boxcar/ivalue/stop_request.h>

namespace boxcar {
namespace {

constinit thread_local StopRequests requests;

}  // namespace

StopGuard::StopGuard(const StopRequest& request) noexcept : request_(request), outer_(requests.innermost) {
  requests.innermost = this;
}
StopGuard::~StopGuard() { requests.innermost = outer_; }

StopRequests stopRequests() noexcept { return requests; }
void setStopRequests(const StopRequests& changed) noexcept { requests = changed; }

void checkStop() {
  if (requests.of_runs != nullptr) requests.of_runs->checkStop();
  for (const StopGuard* guard = requests.innermost; guard != nullptr; guard = guard->outer_) {
    guard->request_.checkStop();
  }
}

}  // namespace boxcar
