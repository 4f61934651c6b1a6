#include <boxcar/dispatcher/handlers/cpu_fallback/cpu_fallback.h>
#include <boxcar/dispatcher/handlers/cpu_fallback/cpu_round_trip.h>
#include <boxcar/dispatcher/handlers/report_table.h>
#include <boxcar/dispatcher/registry/cpu_fallback_rules.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/name_pattern.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace boxcar {
namespace {

[[noreturn]] void refuse(const OperatorHandle& op, DispatchKey key, std::string_view reason) {
  BOXCAR_FAIL("{} has no kernel for {}, and the CPU fallback does not run it: it {}. Register a kernel for {}", op, key,
              reason, key);
}

}  // namespace

// State that the kernels of one fallback share; it lives until the last of them has run.
class CpuFallback::State final {
 public:
  State(DispatchKey fallback_key, RegistrationSite registered_at) noexcept : key(fallback_key), site(registered_at) {}

  void serve(const OperatorHandle& op, Stack& stack) {
    if (const auto reason = detail::whyNotOnCpu(op)) refuse(op, key, *reason);
    const RoundTripBytes bytes = runOnCpu(op, *toDeviceType(toBackendComponent(key)), stack);
    const std::lock_guard lock(mutex_);
    ServedOperator& entry = served_[&op.entry()];
    if (entry.calls++ == 0) entry.name = op.operator_name();
    entry.bytes_to_cpu += bytes.to_cpu;
    entry.bytes_back += bytes.back;
  }

  std::vector<ServedOperator> served() const {
    std::vector<ServedOperator> all;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [entry, one] : served_) all.push_back(one);
    }
    std::ranges::sort(all, [](const ServedOperator& a, const ServedOperator& b) {
      return a.calls != b.calls ? a.calls > b.calls : toString(a.name) < toString(b.name);
    });
    return all;
  }

  const DispatchKey key;
  const RegistrationSite site;
  // Used only by the thread that owns the CpuFallback.
  std::unordered_set<const OperatorEntry*> forced;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const OperatorEntry*, ServedOperator> served_;
};

namespace {

// Returns the kernel for the fallback's key and for forced operators.
KernelFunction kernelOf(auto state) {
  return KernelFunction::makeFromBoxedFunctor(
      [state = std::move(state)](const OperatorHandle& op, Stack& stack) { state->serve(op, stack); });
}

}  // namespace

CpuFallback registerCpuFallback(DispatchKey key, const CpuFallbackOptions& options, std::source_location where) {
  BOXCAR_CHECK(detail::canFallBackToCpu(key),
               "a CPU fallback cannot be registered for {}: give the key of the dense tensors of a device that is "
               "neither the CPU nor meta, such as CUDA or PrivateUse1",
               key);
  CpuFallback fallback;
  fallback.state_ = std::make_shared<CpuFallback::State>(key, RegistrationSite{where.file_name(), where.line()});
  const RegistrationSite site = fallback.state_->site;
  fallback.registrations_.push_back(Dispatcher::singleton().registerFallback(key, kernelOf(fallback.state_), site));
  for (const std::string& pattern : options.force) fallback.force(pattern);
  return fallback;
}

void CpuFallback::force(const std::string& pattern) {
  BOXCAR_CHECK(state_ != nullptr, "cannot force '{}' onto the CPU: this CPU fallback was never registered", pattern);
  std::string first_reason;
  bool found = false;
  for (const OperatorName& name : Dispatcher::singleton().getAllOpNames()) {
    if (!matchesPattern(name, pattern)) continue;
    const auto op = Dispatcher::singleton().findSchema(name);
    if (!op) continue;
    if (const auto reason = detail::whyNotOnCpu(*op)) {
      if (first_reason.empty()) first_reason = fmt::format("{} {}", name, *reason);
      continue;
    }
    found = true;
    if (!state_->forced.insert(&op->entry()).second) continue;
    registrations_.push_back(Dispatcher::singleton().registerImpl(name, state_->key, kernelOf(state_), state_->site));
  }
  BOXCAR_CHECK(found || !first_reason.empty(), "cannot force '{}' onto the CPU: no operator has such a name", pattern);
  BOXCAR_CHECK(found, "cannot force '{}' onto the CPU: {}", pattern, first_reason);
}

std::vector<ServedOperator> CpuFallback::served() const {
  return state_ == nullptr ? std::vector<ServedOperator>() : state_->served();
}

std::string CpuFallback::report() const {
  const std::vector<ServedOperator> all = served();
  if (all.empty()) return {};
  std::vector<std::vector<std::string>> rows = {{"operator", "calls", "to the CPU", "back"}};
  uint64_t calls = 0;
  for (const ServedOperator& one : all) {
    rows.push_back(
        {toString(one.name), std::to_string(one.calls), bytesText(one.bytes_to_cpu), bytesText(one.bytes_back)});
    calls += one.calls;
  }
  return fmt::format("CPU fallback: {} of {} ran on the CPU for device '{}'\n{}", plural(calls, "call"),
                     plural(all.size(), "operator"), toString(*toDeviceType(toBackendComponent(state_->key))),
                     reportTable(rows));
}

}  // namespace boxcar
