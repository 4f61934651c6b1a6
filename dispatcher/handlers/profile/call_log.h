#pragma once

#include <boxcar/dispatcher/call/device_clock.h>
#include <boxcar/dispatcher/call/tick_clock.h>
#include <boxcar/dispatcher/handlers/profile/call_paths.h>
#include <boxcar/dispatcher/handlers/profile/call_record.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/storage_observer.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace boxcar::detail {

// The sums over all calls of one operator by one path.
struct OperatorSum {
  OperatorOnPath key;
  uint64_t made_by[2];  // calls: by the script or the program, and by kernels of other calls
  uint64_t failed;
  uint64_t ticks;
  uint64_t child_ticks;
  uint64_t bytes;
  uint64_t child_bytes;
  // In nanoseconds.
  double device_time;
  double child_device_time;

  uint64_t calls() const noexcept { return made_by[0] + made_by[1]; }

  void add(const CallRecord& call) noexcept {
    ++made_by[call.is_inner ? 1 : 0];
    failed += call.failed ? 1 : 0;
    ticks += call.duration;
    child_ticks += call.children;
    bytes += call.bytes;
    child_bytes += call.child_bytes;
  }
  void add(const DeviceSpan& span) noexcept {
    device_time += span.duration;
    child_device_time += span.children;
  }
};

// The calls of one thread: the latest ones individually, in a ring, and sums of those that no longer fit in the ring.
// All of its memory is allocated before the first call.
class CallLog final {
 public:
  // [number] is the thread's number in the profile; [capacity] is that of the ring, a power of two.
  CallLog(uint32_t number, size_t capacity);

  // Call them around the calls to be logged.
  void begin() noexcept;
  void end() noexcept;
  bool isOn() const noexcept { return is_on_; }

  // Redispatches, and logs the call. Must run on the log's thread, between begin() and end().
  [[gnu::always_inline]] void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    OpenCall open(*this, op, keys, stack);
    op.redispatchBoxed(keys, stack);
    open.succeeded();
  }

  // The counter of finished calls, which changes while the thread runs.
  const volatile uint64_t* liveCallCount() const noexcept { return &count_; }

  // Call the following only when the thread is done.

  uint32_t number() const noexcept { return number_; }
  uint64_t threadId() const noexcept { return thread_id_; }
  uint64_t callCount() const noexcept { return count_; }
  // How many of these are only in folded().
  uint64_t foldedCount() const noexcept { return count_ > capacity_ ? count_ - capacity_ : 0; }
  // When the thread first switched the log on and last switched it off, and how long it was on; in ticks.
  uint64_t firstTick() const noexcept { return first_tick_; }
  uint64_t lastTick() const noexcept { return last_tick_; }
  uint64_t ticksOn() const noexcept { return ticks_on_; }
  // Ticks in outermost calls.
  uint64_t ticksInCalls() const noexcept { return top_.children; }
  // The calls in the ring, in the order in which they ended.
  std::vector<const CallRecord*> calls() const;
  std::vector<OperatorSum> folded() const;
  const CallPaths& paths() const noexcept { return paths_; }
  // When the device ran the work of the call; null if that is not known.
  const DeviceSpan* spanOf(const CallRecord& call) const noexcept {
    return call.device_span == 0 ? nullptr : clock_->find(call.device_span);
  }
  // The origin of span times, in ticks.
  uint64_t deviceOrigin() const noexcept { return clock_->origin(); }

 private:
  static constexpr size_t kSums = 8192;  // a power of two

  // A call that has begun. The open calls of a thread form a chain that ends at the log's own record.
  struct OpenCall final {
    [[gnu::always_inline]] OpenCall(CallLog& log, const OperatorHandle& op, DispatchKeySet keys,
                                    const Stack& stack) noexcept
        : log_(log), outer_(std::exchange(log.innermost_, &record_)) {
      record_.key = {&op.entry(), CallPaths::kNone};
      record_.children = 0;
      record_.child_bytes = 0;
      record_.keys = keys;
      record_.failed = true;
      record_.noteArguments(op.entry(), stack);
      record_.device_span = 0;
      record_.is_inner = false;
      if (has_run_script) [[unlikely]]
        log.notePath(record_, *outer_);
      if (keys.has_any(log_.measured_)) [[unlikely]]
        log_.beginSpan(record_, outer_->device_span, stack);
      record_.bytes = allocatedStorageBytes();
      record_.start = TickClock::now();
    }
    [[gnu::always_inline]] ~OpenCall() {
      const uint64_t end = TickClock::now();
      record_.duration = end - record_.start;
      record_.bytes = allocatedStorageBytes() - record_.bytes;
      outer_->children += record_.duration;
      outer_->child_bytes += record_.bytes;
      log_.innermost_ = outer_;
      log_.add(record_);
      if (record_.device_span != 0) [[unlikely]]
        log_.endSpan(record_);
    }
    OpenCall(const OpenCall&) = delete;
    OpenCall& operator=(const OpenCall&) = delete;

    void succeeded() noexcept { record_.failed = false; }

   private:
    CallLog& log_;
    CallRecord* const outer_;
    CallRecord record_;
  };

  [[gnu::always_inline]] void add(const CallRecord& call) noexcept {
    CallRecord& place = ring_[count_ & (capacity_ - 1)];
    if (count_ >= capacity_) [[unlikely]]
      fold(place);
    place = call;
    ++count_;
  }
  void fold(const CallRecord& call) noexcept {
    OperatorSum& sum = sumOf(call.key);
    sum.add(call);
    if (const DeviceSpan* const span = spanOf(call)) sum.add(*span);
  }
  OperatorSum& sumOf(OperatorOnPath key) noexcept {
    const size_t place = placeOf(key);
    return sums_[place].key == key ? sums_[place] : findSumFrom(place, key);
  }
  static size_t placeOf(OperatorOnPath key) noexcept {
    // Entries are aligned to 64 bytes, so their low bits carry no information.
    constexpr int kShift = 64 - std::bit_width(kSums - 1);
    return (key.word() >> 6) * 0x9E3779B97F4A7C15U >> kShift;
  }
  OperatorSum& findSumFrom(size_t place, OperatorOnPath key) noexcept;
  [[gnu::noinline]] void notePath(CallRecord& call, const CallRecord& outer) noexcept {
    call.key = {call.key.entry(), paths_.current()};
    call.is_inner = &outer != &top_ && outer.key.path() == call.key.path();
  }
  // Begins a span on the device of the first argument that is a tensor on a measured device.
  [[gnu::noinline]] void beginSpan(CallRecord& call, uint32_t outer, const Stack& stack) noexcept;
  [[gnu::noinline]] void endSpan(const CallRecord& call) noexcept;

  const uint32_t number_;
  const uint64_t thread_id_;
  const size_t capacity_;
  const std::unique_ptr<CallRecord[]> ring_;
  uint64_t count_ = 0;
  const std::unique_ptr<OperatorSum[]> sums_;
  size_t sums_used_ = 0;
  CallPaths paths_;
  CallRecord top_ = {};
  CallRecord* innermost_ = &top_;
  // Calls with any of these keys have spans.
  const DispatchKeySet measured_ = device_clocks.keys;
  std::unique_ptr<DeviceClock> clock_;
  bool has_asked_for_clock_ = false;
  const uint64_t first_tick_;
  uint64_t last_tick_;
  uint64_t ticks_on_ = 0;
  uint64_t on_since_ = 0;
  bool is_on_ = false;
};

}  // namespace boxcar::detail
