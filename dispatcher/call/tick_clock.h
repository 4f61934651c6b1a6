#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace boxcar::detail {

// A clock cheap enough to read twice per operator call: the processor's counter if its rate is constant on all cores,
// else steady_clock.
class TickClock final {
 public:
  static uint64_t now() noexcept {
#if defined(__x86_64__)
    if (has_even_counter_) [[likely]]
      return __rdtsc();
#endif
    return nanosecondsOnSteadyClock();
  }

  // Measured once against steady_clock, over a few milliseconds; the first call waits for that unless prepare() was
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
