#include <boxcar/dispatcher/call/record_function.h>
#include <boxcar/dispatcher/call/watched_call.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

namespace boxcar {
namespace {

struct Registered {
  CallbackHandle handle;
  RecordFunctionCallback callback;
};

using Callbacks = std::vector<std::shared_ptr<const Registered>>;

// Set when a thread's state is destroyed: objects destroyed later may still make calls.
constinit thread_local bool thread_has_ended = false;

struct GlobalCallbacks {
  std::mutex mutex;
  Callbacks all;
  // Counts changes, so that threads know when their copies are out of date.
  std::atomic<uint64_t> version{0};
};

GlobalCallbacks& globalCallbacks() {
  static GlobalCallbacks& callbacks = *new GlobalCallbacks;  // never destroyed: threads may outlive main
  return callbacks;
}

// A thread's observer state.
struct ThreadState {
  Callbacks own;
  // Not owned: a removed callback should be destroyed even if this thread makes no more calls.
  std::vector<std::weak_ptr<const Registered>> global;
  uint64_t version = 0;
  bool enabled = true;
  uint64_t id = 0;
  uint64_t random = 0;

  ThreadState() {
    static std::atomic<uint64_t> threads{0};
    id = ++threads;
    random = id * 0x9E3779B97F4A7C15u;
  }
  ~ThreadState() {
    thread_has_ended = true;
    detail::watchers -= static_cast<uint32_t>(own.size());
  }

  void refreshGlobal() {
    GlobalCallbacks& shared = globalCallbacks();
    if (version == shared.version.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(shared.mutex);
    global.assign(shared.all.begin(), shared.all.end());
    version = shared.version.load(std::memory_order_relaxed);
  }

  // xorshift64*: sampling needs no cryptographic randomness.
  bool draw(double probability) {
    if (probability >= 1) return true;
    random ^= random >> 12;
    random ^= random << 25;
    random ^= random >> 27;
    return static_cast<double>((random * 0x2545F4914F6CDD1Du) >> 11) * 0x1p-53 < probability;
  }
};

ThreadState& threadState() {
  static thread_local ThreadState state;
  return state;
}

CallbackHandle nextHandle() {
  static std::atomic<CallbackHandle> handles{0};
  return ++handles;
}

std::shared_ptr<const Registered> registerCallback(RecordFunctionCallback callback) {
  BOXCAR_CHECK(callback.start() != nullptr, "an observer needs a start callback; it may do nothing");
  return std::make_shared<const Registered>(Registered{nextHandle(), std::move(callback)});
}

// Returns the removed callback, which the caller destroys without holding a lock; null if there was none.
std::shared_ptr<const Registered> takeFrom(Callbacks& callbacks, CallbackHandle handle) {
  const auto found = std::ranges::find(callbacks, handle, [](const auto& kept) { return kept->handle; });
  if (found == callbacks.end()) return nullptr;
  std::shared_ptr<const Registered> taken = std::move(*found);
  callbacks.erase(found);
  return taken;
}

void reportFailure(const char* when, const std::string& name, const char* what) {
  const std::string line = fmt::format("boxcar: an observer failed at the {} of {}: {}\n", when, name, what);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

// Runs a callback for the call [name]. The call continues even if the callback throws, and calls that the callback
// makes are not observed.
template <class Function>
void runCallback(const char* when, const std::string& name, Function&& function) {
  const DisableRecordFunctionGuard guard;
  try {
    function();
  } catch (const std::exception& error) {
    reportFailure(when, name, error.what());
  } catch (...) {
    reportFailure(when, name, "it threw something that is not a std::exception");
  }
}

}  // namespace

std::string_view toString(RecordScope scope) noexcept {
  switch (scope) {
    case RecordScope::FUNCTION: return "FUNCTION";
    case RecordScope::USER_SCOPE: return "USER_SCOPE";
    case RecordScope::NUM_SCOPES: break;
  }
  return "";
}

RecordFunctionCallback& RecordFunctionCallback::samplingProb(double probability) & {
  BOXCAR_CHECK(probability >= 0 && probability <= 1,
               "the sampling probability of an observer is between 0 and 1, not {}", probability);
  sampling_probability_ = probability;
  return *this;
}

RecordFunctionCallback& RecordFunctionCallback::scopes(std::initializer_list<RecordScope> scopes) & {
  scopes_.reset();
  for (const RecordScope scope : scopes) scopes_.set(static_cast<size_t>(scope));
  return *this;
}

CallbackHandle addThreadLocalCallback(RecordFunctionCallback callback) {
  auto registered = registerCallback(std::move(callback));
  const CallbackHandle handle = registered->handle;
  threadState().own.push_back(std::move(registered));
  ++detail::watchers;
  return handle;
}

CallbackHandle addGlobalCallback(RecordFunctionCallback callback) {
  auto registered = registerCallback(std::move(callback));
  const CallbackHandle handle = registered->handle;
  GlobalCallbacks& shared = globalCallbacks();
  const std::lock_guard lock(shared.mutex);
  shared.all.push_back(std::move(registered));
  shared.version.fetch_add(1, std::memory_order_release);
  ++detail::watchers;
  return handle;
}

bool removeCallback(CallbackHandle handle) {
  std::shared_ptr<const Registered> removed = takeFrom(threadState().own, handle);
  if (removed == nullptr) {
    GlobalCallbacks& shared = globalCallbacks();
    const std::lock_guard lock(shared.mutex);
    removed = takeFrom(shared.all, handle);
    if (removed != nullptr) shared.version.fetch_add(1, std::memory_order_release);
  }
  if (removed != nullptr) --detail::watchers;
  return removed != nullptr;
}

bool hasGlobalCallbacks() {
  const std::lock_guard lock(globalCallbacks().mutex);
  return !globalCallbacks().all.empty();
}

bool hasThreadLocalCallbacks() { return !threadState().own.empty(); }

void clearGlobalCallbacks() {
  Callbacks removed;  // destroyed after the lock is released
  GlobalCallbacks& shared = globalCallbacks();
  const std::lock_guard lock(shared.mutex);
  removed.swap(shared.all);
  shared.version.fetch_add(1, std::memory_order_release);
  detail::watchers -= static_cast<uint32_t>(removed.size());
}

void clearThreadLocalCallbacks() {
  const Callbacks removed = std::exchange(threadState().own, {});
  detail::watchers -= static_cast<uint32_t>(removed.size());
}

bool isRecordFunctionEnabled() noexcept { return threadState().enabled; }

RecordFunctionGuard::RecordFunctionGuard(bool is_enabled) noexcept
    : enabled_before_(std::exchange(threadState().enabled, is_enabled)) {}

RecordFunctionGuard::~RecordFunctionGuard() { threadState().enabled = enabled_before_; }

struct RecordFunction::State {
  struct Chosen {
    std::shared_ptr<const Registered> registered;
    std::unique_ptr<ObserverContext> context;
  };
  RecordScope scope;
  bool needs_inputs = false;
  bool needs_outputs = false;
  bool started = false;
  bool ended = false;
  bool failed = false;
  int exceptions_before = 0;
  uint64_t thread_id = 0;
  uint64_t handle = 0;
  std::string name;
  std::optional<OperatorName> operator_name;
  Stack inputs;
  Stack outputs;
  std::vector<Chosen> chosen;
};

RecordFunction::RecordFunction(RecordScope scope) {
  if (thread_has_ended) return;
  ThreadState& thread = threadState();
  if (!thread.enabled) return;
  const auto consider = [&](std::shared_ptr<const Registered> registered) {
    const RecordFunctionCallback& callback = registered->callback;
    if (!callback.checkScope(scope) || !thread.draw(callback.samplingProb())) return;
    if (state_ == nullptr) {
      static std::atomic<uint64_t> handles{0};
      state_ = std::make_unique<State>();
      state_->scope = scope;
      state_->exceptions_before = std::uncaught_exceptions();
      state_->thread_id = thread.id;
      state_->handle = handles.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    state_->needs_inputs |= callback.needsInputs();
    state_->needs_outputs |= callback.needsOutputs();
    state_->chosen.push_back({std::move(registered), nullptr});
  };
  thread.refreshGlobal();
  for (const auto& kept : thread.global) {
    if (auto registered = kept.lock()) consider(std::move(registered));
  }
  for (const auto& registered : thread.own) consider(registered);
}

RecordFunction::RecordFunction(RecordFunction&& other) noexcept = default;
RecordFunction::~RecordFunction() { end(); }

bool RecordFunction::needsInputs() const noexcept { return state_ != nullptr && state_->needs_inputs; }
bool RecordFunction::needsOutputs() const noexcept { return state_ != nullptr && state_->needs_outputs; }

void RecordFunction::before(std::string_view name, Stack inputs) {
  if (state_ == nullptr || state_->started) return;
  state_->started = true;
  state_->name = name;
  state_->inputs = std::move(inputs);
  for (auto& [registered, context] : state_->chosen) {
    runCallback("start", state_->name, [&] { context = registered->callback.start()(*this); });
  }
}

void RecordFunction::before(const OperatorHandle& op, Stack inputs) {
  if (state_ == nullptr) return;
  state_->operator_name = op.operator_name();
  before(toString(op.operator_name()), std::move(inputs));
}

void RecordFunction::setOutputs(Stack outputs) {
  if (state_ != nullptr) state_->outputs = std::move(outputs);
}

void RecordFunction::end() {
  if (state_ == nullptr || !state_->started || std::exchange(state_->ended, true)) return;
  state_->failed = std::uncaught_exceptions() > state_->exceptions_before;
  // Observers are told of the end in the reverse order of the start.
  for (auto chosen = state_->chosen.rbegin(); chosen != state_->chosen.rend(); ++chosen) {
    const auto& end = chosen->registered->callback.end();
    runCallback("end", state_->name, [&] {
      if (end != nullptr) end(*this, chosen->context.get());
    });
  }
}

RecordScope RecordFunction::scope() const noexcept { return state_->scope; }
const std::string& RecordFunction::name() const noexcept { return state_->name; }
std::optional<OperatorName> RecordFunction::operator_name() const { return state_->operator_name; }
std::span<const IValue> RecordFunction::inputs() const noexcept {
  return {state_->inputs.data(), state_->inputs.size()};
}
std::span<const IValue> RecordFunction::outputs() const noexcept {
  return {state_->outputs.data(), state_->outputs.size()};
}
bool RecordFunction::failed() const noexcept { return state_->failed; }
uint64_t RecordFunction::threadId() const noexcept { return state_->thread_id; }
uint64_t RecordFunction::handle() const noexcept { return state_->handle; }
uint64_t RecordFunction::currentThreadId() noexcept { return threadState().id; }

}  // namespace boxcar
