#pragma once

#include <atomic>
#include <mutex>

namespace boxcar::interp {

// What is done once for all runs of a program, whatever threads they are on: who comes while another is at it waits.
class Once final {
 public:
  Once() = default;
  Once(const Once&) = delete;
  Once& operator=(const Once&) = delete;

  bool isDone() const noexcept { return is_done_.load(std::memory_order_acquire); }

  // Whether the caller is to do it, and to call finish() or abandon() then, on the same thread.
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
  // It was not done; the next one to come does it.
  void abandon() noexcept { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  std::atomic<bool> is_done_ = false;
};

}  // namespace boxcar::interp
