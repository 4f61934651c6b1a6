#include <boxcar/dispatcher/call/tick_clock.h>

#include <chrono>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace boxcar::detail {
namespace {

// Returns the CPUID bit that says that the counter runs at one rate in all power states.
bool hasInvariantCounter() noexcept {
#if defined(__x86_64__)
  constexpr unsigned kPowerLeaf = 0x80000007;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(kPowerLeaf, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
#else
  return false;
#endif
}

}  // namespace

const bool TickClock::has_even_counter_ = hasInvariantCounter();

uint64_t TickClock::nanosecondsOnSteadyClock() noexcept {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

const TickClock::Moment& TickClock::firstMoment() noexcept {
  static const Moment first{now(), nanosecondsOnSteadyClock()};
  return first;
}

double TickClock::nanosecondsPerTick() {
  if (!has_even_counter_) return 1.0;
  // Over this time, the cost of reading a clock is below one part in 100 000.
  constexpr uint64_t kNanoseconds = 5'000'000;
  static const double ratio = [] {
    const Moment& first = firstMoment();
    while (nanosecondsOnSteadyClock() - first.nanoseconds < kNanoseconds) {
    }
    const Moment last{now(), nanosecondsOnSteadyClock()};
    return static_cast<double>(last.nanoseconds - first.nanoseconds) / static_cast<double>(last.ticks - first.ticks);
  }();
  return ratio;
}

}  // namespace boxcar::detail
