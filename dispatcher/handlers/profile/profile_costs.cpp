#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/handlers/profile/profile_costs.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/library.h>

#include <algorithm>
#include <limits>
#include <mutex>

namespace boxcar::detail {
namespace {

// Keys at which a tracer or another fallback would see thousands of calls that the program did not make.
constexpr DispatchKeySet kKeysOfOthers =
    DispatchKeySet(DispatchKeySet::FULL) - DispatchKeySet({DispatchKey::PreDispatch, DispatchKey::Dense});

// Takes the shortest of a few rounds, because the others were disturbed.
double nanosecondsPerCall(const OperatorHandle& op, const Tensor& tensor) {
  constexpr int kTurns = 5;
  constexpr int kCalls = 1000;
  uint64_t shortest = std::numeric_limits<uint64_t>::max();
  Stack stack;
  for (int turn = 0; turn < kTurns; ++turn) {
    const uint64_t start = TickClock::now();
    for (int i = 0; i < kCalls; ++i) {
      push(stack, tensor, tensor);
      op.callBoxed(stack);
    }
    shortest = std::min(shortest, TickClock::now() - start);
  }
  return static_cast<double>(shortest) * TickClock::nanosecondsPerTick() / kCalls;
}

}  // namespace

std::optional<CallCosts> measureCallCosts() {
  if (callsAreWatched()) return std::nullopt;
  // The operator can only be defined once at a time.
  static constinit std::mutex mutex;
  const std::lock_guard lock(mutex);
  Library library(Library::FRAGMENT, "_profiler", std::nullopt, __FILE__, __LINE__);
  library.def("nothing(Tensor a, Tensor b) -> ()", CppFunction([](const Tensor&, const Tensor&) {}),
              {boxcar::Tag::not_observed});
  const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("_profiler::nothing", "");
  const int64_t sizes[] = {2};
  const Tensor tensor = Tensor::allocate(sizes, ScalarType::Float);

  const WithoutModes without_modes;
  const ExcludeDispatchKeyGuard without_others(kKeysOfOthers);
  CallCosts costs;
  costs.dispatch = nanosecondsPerCall(op, tensor);
  constexpr size_t kCapacity = 256;
  CallLog log(0, kCapacity);
  const ModeGuard guard(
      [&log](const OperatorHandle& called, DispatchKeySet keys, Stack& stack) { log.call(called, keys, stack); },
      {.sees_calls_below = true, .only_redispatches = true});
  log.begin();
  costs.profiler = std::max(0.0, nanosecondsPerCall(op, tensor) - costs.dispatch);
  log.end();
  return costs;
}

}  // namespace boxcar::detail
