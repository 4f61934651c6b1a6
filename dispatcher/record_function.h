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

// What is observed: an operator's call, or a piece of a program that its author named.
enum class RecordScope : uint8_t { FUNCTION, USER_SCOPE, NUM_SCOPES };

BOXCAR_API std::string_view toString(RecordScope scope) noexcept;

class RecordFunction;

// What an observer keeps between the start and the end of one call.
struct ObserverContext {
  ObserverContext() = default;
  ObserverContext(const ObserverContext&) = delete;
  ObserverContext& operator=(const ObserverContext&) = delete;
  virtual ~ObserverContext() = default;
};

// An observer: what is called at the start and at the end of each call.
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

  // Whether it reads the arguments, or the results; both are empty where no callback needs them.
  RecordFunctionCallback& needsInputs(bool needs) & { return needs_inputs_ = needs, *this; }
  RecordFunctionCallback&& needsInputs(bool needs) && { return std::move(needsInputs(needs)); }
  RecordFunctionCallback& needsOutputs(bool needs) & { return needs_outputs_ = needs, *this; }
  RecordFunctionCallback&& needsOutputs(bool needs) && { return std::move(needsOutputs(needs)); }
  // The share of calls that it is told of, drawn anew for each; an Error unless 0 <= [probability] <= 1.
  BOXCAR_API RecordFunctionCallback& samplingProb(double probability) &;
  RecordFunctionCallback&& samplingProb(double probability) && { return std::move(samplingProb(probability)); }
  // The scopes that it is told of; all, unless this is called.
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

// For the calls of this thread, or of the whole process, from now on until it is removed. Callbacks of the process run
// on the threads that make the calls, several at a time.
BOXCAR_API CallbackHandle addThreadLocalCallback(RecordFunctionCallback callback);
BOXCAR_API CallbackHandle addGlobalCallback(RecordFunctionCallback callback);
// Whether there was one: this thread's, or the process's. A call that has started keeps its callbacks to its end.
BOXCAR_API bool removeCallback(CallbackHandle handle);
BOXCAR_API bool hasGlobalCallbacks();
BOXCAR_API bool hasThreadLocalCallbacks();
BOXCAR_API void clearGlobalCallbacks();
BOXCAR_API void clearThreadLocalCallbacks();

// Whether this thread's calls are observed.
BOXCAR_API bool isRecordFunctionEnabled() noexcept;

// Switches that on or off while it lives.
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
  // Chooses the callbacks that are told of this call.
  explicit RecordFunction(RecordScope scope);
  ~RecordFunction();
  RecordFunction(RecordFunction&& other) noexcept;
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;

  // Whether any callback is told; the others below need not be called where none is.
  bool isActive() const noexcept { return state_ != nullptr; }
  bool needsInputs() const noexcept;
  bool needsOutputs() const noexcept;

  // Calls the start callbacks. [inputs] are the call's arguments, exactly.
  void before(std::string_view name, Stack inputs = {});
  void before(const OperatorHandle& op, Stack inputs = {});
  void setOutputs(Stack outputs);
  // Calls the end callbacks, once.
  void end();

  // What callbacks ask.
  RecordScope scope() const noexcept;
  // The operator's name with its overload, or the name that the scope was given.
  const std::string& name() const noexcept;
  // Nothing for a scope of a program.
  std::optional<OperatorName> operator_name() const;
  std::span<const IValue> inputs() const noexcept;
  // Empty before the end, and where the call failed.
  std::span<const IValue> outputs() const noexcept;
  size_t num_inputs() const noexcept { return inputs().size(); }
  size_t num_outputs() const noexcept { return outputs().size(); }
  // Whether an exception left the call.
  bool failed() const noexcept;
  // Numbers threads and calls, from 1 on.
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
