#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/stack.h>
#include <boxcar/schema/operator_name.h>

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace boxcar {

class OperatorHandle;

// What is observed: an operator call, or a part of a program that its author named.
enum class RecordScope : uint8_t { FUNCTION, USER_SCOPE, NUM_SCOPES };

BOXCAR_API std::string_view toString(RecordScope scope) noexcept;

class RecordFunction;

// Data that an observer keeps between the start and the end of one call.
struct ObserverContext {
  ObserverContext() = default;
  ObserverContext(const ObserverContext&) = delete;
  ObserverContext& operator=(const ObserverContext&) = delete;
  virtual ~ObserverContext() = default;
};

// An observer: callbacks for the start and the end of each call.
//
//   const CallbackHandle handle = addGlobalCallback(
//       RecordFunctionCallback([](const RecordFunction& call) -> std::unique_ptr<ObserverContext> {
//         fmt::print("{} of {} arguments\n", call.name(), call.inputs().size());
//         return nullptr;
//       }).needsInputs(true));
//
// Calls that a callback makes are not observed. What a callback throws is written to stderr; the call goes on.
class RecordFunctionCallback final {
 public:
  using Start = std::function<std::unique_ptr<ObserverContext>(const RecordFunction&)>;
  using End = std::function<void(const RecordFunction&, ObserverContext*)>;

  // [end] may be null.
  explicit RecordFunctionCallback(Start start, End end = nullptr) : start_(std::move(start)), end_(std::move(end)) {
    scopes_.set();
  }

  // Whether it reads the arguments, or the results. Both are empty if no callback needs them.
  RecordFunctionCallback& needsInputs(bool needs) & { return needs_inputs_ = needs, *this; }
  RecordFunctionCallback&& needsInputs(bool needs) && { return std::move(needsInputs(needs)); }
  RecordFunctionCallback& needsOutputs(bool needs) & { return needs_outputs_ = needs, *this; }
  RecordFunctionCallback&& needsOutputs(bool needs) && { return std::move(needsOutputs(needs)); }
  // The fraction of calls that it sees, drawn at random for each call. Throws Error unless 0 <= [probability] <= 1.
  BOXCAR_API RecordFunctionCallback& samplingProb(double probability) &;
  RecordFunctionCallback&& samplingProb(double probability) && { return std::move(samplingProb(probability)); }
  // The scopes that it sees; all of them by default.
  BOXCAR_API RecordFunctionCallback& scopes(std::initializer_list<RecordScope> scopes) &;
  RecordFunctionCallback&& scopes(std::initializer_list<RecordScope> given) && { return std::move(scopes(given)); }

  const Start& start() const noexcept { return start_; }
  const End& end() const noexcept { return end_; }
  bool needsInputs() const noexcept { return needs_inputs_; }
  bool needsOutputs() const noexcept { return needs_outputs_; }
  double samplingProb() const noexcept { return sampling_probability_; }
  bool checkScope(RecordScope scope) const noexcept { return scopes_[static_cast<size_t>(scope)]; }

 private:
  Start start_;
  End end_;
  double sampling_probability_ = 1;
  bool needs_inputs_ = false;
  bool needs_outputs_ = false;
  std::bitset<static_cast<size_t>(RecordScope::NUM_SCOPES)> scopes_;
};

using CallbackHandle = uint64_t;

// Add a callback for the calls of this thread, or of the whole process, until it is removed. Callbacks of the process
// run on the threads that make the calls, possibly several at a time.
BOXCAR_API CallbackHandle addThreadLocalCallback(RecordFunctionCallback callback);
BOXCAR_API CallbackHandle addGlobalCallback(RecordFunctionCallback callback);
// Removes a callback of this thread or of the process. Returns whether there was one. A call that has started keeps its
// callbacks until its end.
BOXCAR_API bool removeCallback(CallbackHandle handle);
BOXCAR_API bool hasGlobalCallbacks();
BOXCAR_API bool hasThreadLocalCallbacks();
BOXCAR_API void clearGlobalCallbacks();
BOXCAR_API void clearThreadLocalCallbacks();

// Whether this thread's calls are observed.
BOXCAR_API bool isRecordFunctionEnabled() noexcept;

// Switches observation of this thread's calls on or off while it lives.
class BOXCAR_API RecordFunctionGuard final {
 public:
  explicit RecordFunctionGuard(bool is_enabled = true) noexcept;
  ~RecordFunctionGuard();
  RecordFunctionGuard(const RecordFunctionGuard&) = delete;
  RecordFunctionGuard& operator=(const RecordFunctionGuard&) = delete;

 private:
  bool enabled_before_;
};

class DisableRecordFunctionGuard final {
 public:
  DisableRecordFunctionGuard() noexcept : guard_(false) {}

 private:
  RecordFunctionGuard guard_;
};

// One observed call, from `before` to `end`.
class BOXCAR_API RecordFunction final {
 public:
  // Chooses the callbacks that see this call.
  explicit RecordFunction(RecordScope scope);
  ~RecordFunction();
  RecordFunction(RecordFunction&& other) noexcept;
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;

  // Whether any callback sees the call. If none does, the functions below need not be called.
  bool isActive() const noexcept { return state_ != nullptr; }
  bool needsInputs() const noexcept;
  bool needsOutputs() const noexcept;

  // Calls the start callbacks. [inputs] are exactly the call's arguments.
  void before(std::string_view name, Stack inputs = {});
  void before(const OperatorHandle& op, Stack inputs = {});
  void setOutputs(Stack outputs);
  // Calls the end callbacks, once.
  void end();

  // Accessors for callbacks.
  RecordScope scope() const noexcept;
  // The operator's name with its overload, or the scope's name.
  const std::string& name() const noexcept;
  // No value for a user scope.
  std::optional<OperatorName> operator_name() const;
  std::span<const IValue> inputs() const noexcept;
  // Empty before the end, and if the call failed.
  std::span<const IValue> outputs() const noexcept;
  size_t num_inputs() const noexcept { return inputs().size(); }
  size_t num_outputs() const noexcept { return outputs().size(); }
  // Whether an exception left the call.
  bool failed() const noexcept;
  // Numbers of the thread and of the call, counted from 1.
  uint64_t threadId() const noexcept;
  uint64_t handle() const noexcept;
  static uint64_t currentThreadId() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Observes the rest of a block under a name: `RecordUserScope scope("load weights");`
class RecordUserScope final {
 public:
  explicit RecordUserScope(std::string_view name) : function_(RecordScope::USER_SCOPE) {
    if (function_.isActive()) function_.before(name);
  }

 private:
  RecordFunction function_;
};

}  // namespace boxcar
