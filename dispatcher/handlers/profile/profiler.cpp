#include <boxcar/dispatcher/handlers/profile/call_log.h>
#include <boxcar/dispatcher/handlers/profile/chrome_trace.h>
#include <boxcar/dispatcher/handlers/profile/profile.h>
#include <boxcar/dispatcher/handlers/profile/profile_costs.h>
#include <boxcar/dispatcher/handlers/profile/profile_page.h>
#include <boxcar/dispatcher/handlers/profile/profiler.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

namespace boxcar {
namespace {

// Thread numbers are never reused, unlike the system's thread ids.
uint64_t numberOfThread() noexcept {
  static constinit std::atomic<uint64_t> threads{0};
  static thread_local const uint64_t number = ++threads;
  return number;
}

}  // namespace

// The profiler while it is on for a thread.
struct Profiler::Scope {
  Scope(detail::CallLog& log_of_thread, ModeOptions options)
      : log(log_of_thread),
        guard([&log_of_thread](const OperatorHandle& op, DispatchKeySet keys,
                               Stack& stack) { log_of_thread.call(op, keys, stack); },
              options) {
    log.begin();
  }
  ~Scope() { log.end(); }

  detail::CallLog& log;
  const ModeGuard guard;
};

Profiler::Profiler(ProfilerOptions options) : options_(std::move(options)) {
  BOXCAR_CHECK(options_.trace.empty() || options_.trace != options_.page,
               "the trace and the page of a profile cannot both be written to '{}': give each a name of its own",
               options_.trace);
  if (!options_.trace.empty()) trace_.emplace(options_.trace);
  if (!options_.page.empty()) page_.emplace(options_.page);
  detail::TickClock::prepare();
}

Profiler::~Profiler() = default;

detail::CallLog& Profiler::logOfThread() {
  const std::lock_guard lock(mutex_);
  detail::CallLog*& log = log_of_thread_[numberOfThread()];
  if (log == nullptr) {
    constexpr size_t kFewest = 16;
    const size_t capacity = std::bit_ceil(std::max(options_.most_calls, kFewest));
    logs_.push_back(std::make_unique<detail::CallLog>(static_cast<uint32_t>(logs_.size() + 1), capacity));
    log = logs_.back().get();
  }
  return *log;
}

void Profiler::call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  logOfThread().call(op, keys, stack);
}

std::shared_ptr<void> Profiler::enter() {
  detail::CallLog& log = logOfThread();
  if (log.isOn()) return nullptr;
  return std::make_shared<Scope>(log, modeOptions());
}

const volatile uint64_t* Profiler::callCountOfThread() { return logOfThread().liveCallCount(); }

std::string Profiler::finish(bool failed) {
  // A script that was rejected has not run.
  if (logs_.empty() && failed) return {};
  detail::Profile profile(logs_);
  profile.failed = failed;
  const std::optional<detail::CallCosts> costs = detail::measureCallCosts();
  if (trace_) {
    detail::writeChromeTrace(profile, *trace_);
    trace_->commit();
  }
  if (page_) {
    detail::writeProfilePage(profile, options_.table.by, *page_);
    page_->commit();
  }
  return detail::profileTable(profile, options_.table, costs ? &*costs : nullptr);
}

constinit const HandlerKind kProfileKind = {
    "profile(str path='') -> ()",
    "Measure every call: write a trace for Perfetto (.json) or a page for a browser (.html), and print a table",
    [](std::span<const IValue> arguments) -> std::unique_ptr<Handler> {
      constexpr size_t kRows = 20;
      ProfilerOptions options{.table = {.limit = kRows}};
      const std::string_view path = arguments[0].toStringView();
      (path.ends_with(".html") ? options.page : options.trace) = path;
      return std::make_unique<Profiler>(std::move(options));
    }};

}  // namespace boxcar
