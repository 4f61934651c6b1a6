#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstdint>

// How work that takes long is ended from outside: loops ask, from time to time, whether they are to stop. The runs of
// scripts have their own request, which interrupts and limits answer.

namespace boxcar {

// Asked by the threads that do a piece of work, several at once.
class BOXCAR_API StopRequest {
 public:
  StopRequest() = default;
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  // Throws where the work is to end; what an operator was writing then holds anything.
  virtual void checkStop() const = 0;

 protected:
  ~StopRequest() = default;
};

// What the calling thread calls is asked to stop by [request], too, as long as this exists.
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

// All that a thread's work asks. Threads that help it take them over.
struct StopRequests {
  const StopRequest* of_runs = nullptr;  // of the scripts that this thread runs
  const StopGuard* innermost = nullptr;
};
BOXCAR_API StopRequests stopRequests() noexcept;
BOXCAR_API void setStopRequests(const StopRequests& requests) noexcept;

// Throws where the work of this thread is to end.
BOXCAR_API void checkStop();

// So many steps of a loop lie between two checks: some milliseconds.
inline constexpr int64_t kStopInterval = int64_t{1} << 23;

// Counts the steps of a loop, and checks where they are enough.
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
