#include <boxcar/dispatcher/call/dispatch_trace.h>
#include <boxcar/dispatcher/call/record_function.h>
#include <boxcar/dispatcher/call/watched_call.h>
#include <boxcar/dispatcher/registry/level_text.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace boxcar {
namespace {

constinit std::atomic<bool> trace_is_enabled{false};
// The nesting depth of traced calls on this thread.
constinit thread_local int trace_depth = 0;

// The call of this thread whose line waits for its arguments, between a WatchedCall's constructor and start().
struct UnwrittenLine {
  const detail::WatchedCall* call;
  detail::CallKind kind;
  DispatchKeySet keys;
};
constinit thread_local UnwrittenLine* unwritten_line = nullptr;

void forgetUnwrittenLine() noexcept { delete std::exchange(unwritten_line, nullptr); }

std::string_view labelOf(detail::CallKind kind) {
  switch (kind) {
    case detail::CallKind::Call: return "call";
    case detail::CallKind::Redispatch: return "redispatch";
    case detail::CallKind::BoxedCall: return "callBoxed";
    case detail::CallKind::BoxedRedispatch: return "redispatchBoxed";
    case detail::CallKind::Seen: break;
  }
  return "";
}

// A single write, so that lines of different threads do not mix. [effect]: what the kernel does, if that is known.
void printLine(int depth, detail::CallKind kind, const OperatorHandle& op, DispatchKey key, std::string_view effect) {
  const std::string line = fmt::format("{:{}}[{}] op=[{}], key=[{}]{}{}\n", "", depth, labelOf(kind),
                                       op.operator_name(), key, effect.empty() ? "" : ": ", effect);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

bool waits(const detail::WatchedCall& call) noexcept {
  return unwritten_line != nullptr && unwritten_line->call == &call;
}

bool asksForTrace(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

}  // namespace

bool dispatchTraceIsEnabled() noexcept { return trace_is_enabled.load(std::memory_order_relaxed); }

void setDispatchTraceEnabled(bool enabled) noexcept {
  if (trace_is_enabled.exchange(enabled) == enabled) return;
  detail::watchers += enabled ? 1u : -1u;
}

namespace detail {

constinit std::atomic<uint32_t> watchers{0};

void readDispatchTraceEnvironment() noexcept {
  if (asksForTrace("BOXCAR_SHOW_DISPATCH_TRACE") || asksForTrace("TORCH_SHOW_DISPATCH_TRACE")) {
    setDispatchTraceEnabled(true);
  }
}

WatchedCall::WatchedCall(CallKind kind, const OperatorHandle& op, DispatchKeySet keys) : op_(op) {
  if (dispatchTraceIsEnabled()) {
    const DispatchKeySet reached = op.entry().lookupBelowFallthroughs(keys).second;
    if (hasLevelDescriber(reached.highestPriorityTypeId())) {
      // What the level does depends on the arguments, which come with start().
      forgetUnwrittenLine();
      unwritten_line = new UnwrittenLine{this, kind, reached};
    } else {
      printLine(trace_depth, kind, op, reached.highestPriorityTypeId(), {});
    }
    ++trace_depth;
    traced_ = true;
  }
  const bool is_call = kind == CallKind::Call || kind == CallKind::BoxedCall;
  if (is_call && op.entry().isObserved()) {
    RecordFunction record(RecordScope::FUNCTION);
    if (record.isActive()) record_ = std::make_unique<RecordFunction>(std::move(record));
  }
}

WatchedCall::~WatchedCall() {
  if (!traced_) return;
  --trace_depth;
  if (waits(*this)) forgetUnwrittenLine();
}

Stack* WatchedCall::wantedInputs() noexcept {
  return (traced_ && waits(*this)) || (record_ != nullptr && record_->needsInputs()) ? &values_ : nullptr;
}
Stack* WatchedCall::wantedOutputs() noexcept {
  return record_ != nullptr && record_->needsOutputs() ? &values_ : nullptr;
}

void WatchedCall::start() {
  if (traced_ && waits(*this)) {
    const UnwrittenLine line = *unwritten_line;
    forgetUnwrittenLine();
    const DispatchKey key = line.keys.highestPriorityTypeId();
    printLine(trace_depth - 1, line.kind, op_, key, effectAt(op_, key, line.keys, {values_.begin(), values_.end()}));
    if (record_ == nullptr || !record_->needsInputs()) values_ = Stack();
  }
  if (record_ == nullptr) return;
  Stack inputs;
  inputs.swap(values_);
  record_->before(op_, std::move(inputs));
}

void WatchedCall::finish() {
  if (wantedOutputs() != nullptr) record_->setOutputs(std::move(values_));
}

}  // namespace detail
}  // namespace boxcar
