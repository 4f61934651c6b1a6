#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstdint>

// Stops long-running work from outside: loops check from time to time whether they are to stop. Runs of scripts have
// their own request, through which interrupts and limits stop them.

namespace boxcar {

// Called by the threads that do a piece of work, several at once.
class BOXCAR_API StopRequest {
 public:
  StopRequest() = default;
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  // Throws if the work is to end; whatever an operator was writing then has unspecified content.
  virtual void checkStop() const = 0;

 protected:
  ~StopRequest() = default;
};

// Adds [request] to what the calling thread's work checks, for as long as this object exists.
//
//   class Deadline final : public StopRequest { … };
//   const StopGuard guard(deadline);
//   boxcar::sum(x);
class BOXCAR_API StopGuard final {
 public:
  explicit StopGuard(const StopRequest& request) noexcept;
  ~StopGuard();
  StopGuard(const StopGuard&) = delete;
  StopGuard& operator=(const StopGuard&) = delete;

 private:
  friend void checkStop();
  const StopRequest& request_;
  const StopGuard* outer_;
};

// Everything that a thread's work checks. Threads that help it copy this.
struct StopRequests {
  const StopRequest* of_runs = nullptr;  // of the scripts that this thread runs
  const StopGuard* innermost = nullptr;
};
BOXCAR_API StopRequests stopRequests() noexcept;
BOXCAR_API void setStopRequests(const StopRequests& requests) noexcept;

// Throws if this thread's work is to end.
BOXCAR_API void checkStop();

// The number of loop steps between two checks: some milliseconds.
inline constexpr int64_t kStopInterval = int64_t{1} << 23;

// Counts the steps of a loop and checks after every kStopInterval.
class StopCounter final {
 public:
  void add(int64_t steps) {
    left_ -= steps;
    if (left_ <= 0) [[unlikely]]
      check();
  }

 private:
  [[gnu::cold, gnu::noinline]] void check() {
    left_ = kStopInterval;
    checkStop();
  }
  int64_t left_ = kStopInterval;
};

}  // namespace boxcar
