#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace boxcar::detail {

// A clock that one operator call can afford to read twice: the processor's counter where it runs evenly whatever the
// cores do, or else steady_clock.
class TickClock final {
 public:
  static uint64_t now() noexcept {
#if defined(__x86_64__)
    if (has_even_counter_) [[likely]]
      return __rdtsc();
#endif
    return nanosecondsOnSteadyClock();
  }

  // Compared with steady_clock once, over a few milliseconds, for which the first call waits unless prepare() was
  // called before.
  static double nanosecondsPerTick();
  static void prepare() noexcept { firstMoment(); }

 private:
  struct Moment {
    uint64_t ticks;
    uint64_t nanoseconds;
  };

  static const Moment& firstMoment() noexcept;
  static uint64_t nanosecondsOnSteadyClock() noexcept;
  static const bool has_even_counter_;
};

}  // namespace boxcar::detail
