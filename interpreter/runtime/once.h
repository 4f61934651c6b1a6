#pragma once

#include <atomic>
#include <mutex>

namespace boxcar::interp {

// Something that is done once for all runs of a program, on any thread. Concurrent callers wait until it is done.
class Once final {
 public:
  Once() = default;
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;

  bool isDone() const noexcept { return is_done_.load(std::memory_order_acquire); }

  // Returns whether the caller must do it; if so, it must call finish() or abandon() afterwards, on the same thread.
  bool begin() {
    if (isDone()) return false;
    mutex_.lock();
    if (!isDone()) return true;
    mutex_.unlock();
    return false;
  }
  void finish() noexcept {
    is_done_.store(true, std::memory_order_release);
    mutex_.unlock();
  }
  // It was not done; the next caller does it.
  void abandon() noexcept { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  std::atomic<bool> is_done_ = false;
};

}  // namespace boxcar::interp
