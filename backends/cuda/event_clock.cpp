#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/event.h>
#include <boxcar/backends/cuda/status.h>
#include <boxcar/backends/cuda/stream.h>
#include <boxcar/dispatcher/call/device_clock.h>
#include <boxcar/dispatcher/call/tick_clock.h>

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

// Device time for the profiler, measured by events around the work that each call puts on its stream. If the device is
// faster than the host, a span lasts as long as the host takes to enqueue the work.

namespace boxcar::cuda {
namespace {

using ::boxcar::detail::TickClock;

// The maximum number of marks that are read together.
constexpr size_t kBatch = 2048;

class EventClock final : public DeviceClock {
 public:
  explicit EventClock(size_t capacity)
      : spans_(capacity), batch_(std::min(kBatch, capacity / 2)), origin_(TickClock::now()) {}

  uint32_t begin(DeviceIndex index, uint32_t outer) noexcept override {
    if (isCapturing()) return 0;
    try {
      const DeviceGuard on(index);
      if (!bases_[placeOf(index)]) setBase(index);
      if (marks_.size() - open_ >= batch_) read();
      const CudaStream stream = currentStream();
      Mark mark{++last_, outer, false, takeEvent(index), takeEvent(index)};
      mark.begin->record(stream);
      spanAt(mark.span) = {mark.span, false, Device(DeviceType::CUDA, index), stream.id};
      marks_.push_back(std::move(mark));
      ++open_;
      return last_;
    } catch (const std::exception&) {
      return 0;  // the call itself will report what is wrong with the device
    }
  }

  void end(uint32_t span) noexcept override {
    --open_;
    try {
      size_t at = marks_.size() - 1;
      while (marks_[at].span != span) --at;
      Mark& mark = marks_[at];
      mark.has_ended = true;
      const DeviceGuard on(spanAt(span).device);
      mark.end->record(currentStream());
    } catch (const std::exception&) {
      // The call itself will report what is wrong with the device.
    }
  }

  void finish() noexcept override {
    try {
      read();
    } catch (const std::exception&) {
      marks_.clear();
    }
  }

  const DeviceSpan* find(uint32_t span) const noexcept override {
    const DeviceSpan& found = spans_[span & (spans_.size() - 1)];
    return found.number == span && found.is_known ? &found : nullptr;
  }

  uint64_t origin() const noexcept override { return origin_; }

 private:
  struct Mark {
    uint32_t span;
    uint32_t outer;
    bool has_ended;
    std::unique_ptr<Event> begin;
    std::unique_ptr<Event> end;
  };
  // A device's event with a known time.
  struct Base {
    std::unique_ptr<Event> event;
    double time = 0;  // nanoseconds since the origin
  };

  std::unique_ptr<Event> takeEvent(DeviceIndex index) {
    std::vector<std::unique_ptr<Event>>& unused = unused_[placeOf(index)];
    if (unused.empty()) return std::make_unique<Event>(/*timing=*/true);
    std::unique_ptr<Event> taken = std::move(unused.back());
    unused.pop_back();
    return taken;
  }

  // Records an event while the device is idle, so that the host's clock gives its time.
  void setBase(DeviceIndex index) {
    auto event = std::make_unique<Event>(/*timing=*/true);
    event->record(currentStream());
    event->synchronize();
    const auto since = static_cast<double>(TickClock::now() - origin_);
    bases_[placeOf(index)] = Base{std::move(event), since * TickClock::nanosecondsPerTick()};
  }

  DeviceSpan& spanAt(uint32_t span) { return spans_[span & (spans_.size() - 1)]; }

  // Reads the times of the marks whose spans have ended.
  void read() {
    constexpr double kNanoseconds = 1e6;  // per millisecond
    const auto open = std::ranges::stable_partition(marks_, &Mark::has_ended);
    for (const Mark& mark : std::ranges::subrange(marks_.begin(), open.begin())) {
      DeviceSpan& span = spanAt(mark.span);
      const Base& base = *bases_[placeOf(span.device.index())];
      const DeviceGuard on(span.device);
      mark.begin->synchronize();
      mark.end->synchronize();
      span.start = base.time + static_cast<double>(mark.begin->since(*base.event)) * kNanoseconds;
      span.duration = static_cast<double>(mark.end->since(*mark.begin)) * kNanoseconds;
      span.is_known = true;
      DeviceSpan& outer = spanAt(mark.outer);
      if (mark.outer != 0 && outer.number == mark.outer) outer.children += span.duration;
    }
    // Times between events are floats, so later events are timed relative to a recent one.
    for (Mark& mark : std::ranges::subrange(marks_.begin(), open.begin())) {
      const DeviceSpan& span = spanAt(mark.span);
      const auto index = placeOf(span.device.index());
      Base& base = *bases_[index];
      unused_[index].push_back(std::exchange(base.event, std::move(mark.end)));
      base.time = span.start + span.duration;
      unused_[index].push_back(std::move(mark.begin));
    }
    marks_.erase(marks_.begin(), open.begin());
  }

  std::vector<DeviceSpan> spans_;
  const size_t batch_;
  const uint64_t origin_;
  uint32_t last_ = 0;
  size_t open_ = 0;
  std::vector<Mark> marks_;
  std::array<std::optional<Base>, kMaxDevices> bases_;
  std::array<std::vector<std::unique_ptr<Event>>, kMaxDevices> unused_;
};

std::unique_ptr<DeviceClock> makeClock(size_t capacity) noexcept {
  if (deviceCount() == 0) return nullptr;
  return std::make_unique<EventClock>(capacity);
}

[[maybe_unused]] const bool kClockLoaded = (setDeviceClock(BackendComponent::CUDABit, makeClock), true);

}  // namespace
}  // namespace boxcar::cuda
