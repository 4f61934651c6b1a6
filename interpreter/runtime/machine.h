#pragma once

#include <boxcar/dispatcher/call/script_view.h>
#include <boxcar/interpreter/runtime/executable.h>
#include <boxcar/interpreter/runtime/graphed_function.h>
#include <boxcar/interpreter/runtime/limits.h>
#include <boxcar/interpreter/runtime/open_scope.h>
#include <boxcar/interpreter/runtime/script_error.h>
#include <boxcar/ivalue/file_access.h>
#include <boxcar/ivalue/stack.h>
#include <boxcar/ivalue/stop_request.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace boxcar::interp {

// Runs executables; one per thread. Function calls take their frames from memory that is kept and reused. When a script
// or C++ calls a script's operator, it runs on the same machine, above the existing frames. If the run is interrupted,
// the operators that it calls are asked to stop.
class Machine final : private StopRequest {
 public:
  // The maximum depth of nested calls that pass through an operator, and so through C++'s stack.
  static constexpr uint32_t kMaxNativeDepth = 400;

  // This thread's machine.
  static Machine& current();

  Machine();
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // Calls a function with the last values of [stack] as arguments and replaces them by its result. Each argument must
  // be of its slot's kind. If it fails, it throws ScriptError and the arguments are gone.
  void call(const Executable& program, uint32_t function, Stack& stack);
  // Calls a function in the same way; [limits] apply unless it is part of another run.
  void run(const Executable& program, uint32_t function, Stack& stack, const RunLimits& limits);

  // Runs the statements of a session's input in the same way, outside of any other run. If they fail, the values of
  // their variables are left in [variables].
  void runInput(const Executable& program, Stack& stack, const RunLimits& limits, std::vector<IValue>& variables);

  // Returns the script line that is running; nothing if none is.
  std::optional<CallSite> callSite() const;

  // ---- machine_view.cpp: what detail::ScriptReader promises ----
  std::vector<CallFrame> callPath() const;
  size_t places(const void** to, size_t room) const noexcept;
  std::string keyOf(const Tensor& tensor) const;

 private:
  using Clock = std::chrono::steady_clock;

  struct Frame {
    const ExecutableFunction* function;
    const Instruction* pc;  // the instruction after the current one, at points where that may fail or call
    IValue* slots;
    IValue* limit;  // end of the memory that holds the slots
  };
  struct Segment {
    std::unique_ptr<std::byte[]> memory;
    IValue* begin = nullptr;
    IValue* end = nullptr;
  };
  // The folder of a module whose function is running.
  struct OpenFolder {
    const Frame* frame;
    std::unique_ptr<FileAccessGuard> guard;
  };
  // The state when a call began, which is restored when it ends.
  struct Mark {
    Frame* base;
    size_t height;  // of the stack, without the arguments
    size_t scopes;
    size_t held;
    size_t folders;
  };

  template <bool kCounts>
  void execute(const Executable* program, Stack& stack);
  // Returns the frame above [caller], with its slots at [slots] or in the next segment. The first [passed] slots
  // already hold values, which move along.
  Frame* enter(Frame* caller, const ExecutableFunction* callee, IValue* slots, uint32_t passed = 0) {
    Frame* const frame = caller + 1;
    if (frame == end_ || static_cast<size_t>(caller->limit - slots) < callee->frame) [[unlikely]]
      return enterNextSegment(caller, callee, slots, passed);
    frame->function = callee;
    frame->slots = slots;
    frame->limit = caller->limit;
    return frame;
  }
  Frame* enterNextSegment(Frame* caller, const ExecutableFunction* callee, IValue* slots, uint32_t passed);
  // Ends a run that was interrupted or has no time left.
  [[noreturn, gnu::cold, gnu::noinline]] void poll(Frame* frame, const Instruction* pc);
  // Does the same from within an operator, on any thread.
  void checkStop() const override;
  [[noreturn]] void stop() const;
  bool isInterrupted() const noexcept;
  // Takes another share of the run's instructions, for the one at [pc] and those after it. Ends the run if no
  // instructions or no time are left.
  [[gnu::cold, gnu::noinline]] void nextShare(Frame* frame, const Instruction* pc);
  void takeShare() noexcept;
  // Whether the run has no time left.
  bool isLate() const noexcept { return deadline_ != Clock::time_point::max() && Clock::now() >= deadline_; }
  // Whether nothing of the run can go on: no instructions or no time are left.
  bool isSpent() const noexcept { return counts_ && ((instructions_left_ | later_instructions_) == 0 || isLate()); }
  const Segment& segmentAfter(const IValue* limit, size_t slots);
  // Destroys the frame's values; returns the frame below.
  static Frame* leave(Frame* frame) noexcept {
    const ExecutableFunction& function = *frame->function;
    for (uint32_t i = 0; i < function.value_count; ++i) std::destroy_at(frame->slots + function.values[i]);
    return frame - 1;
  }

  void setLimits(const RunLimits& limits);

  // ---- machine_scope.cpp: what begins and ends ----
  bool begin(Once& once, std::string_view what);
  void finish(Once& once);
  void storeGlobal(GlobalValue& global, const IValue& value);
  void enterScope(const Executable& program, const CodeScope& scope);
  void enterHandler(const IValue& handler);
  void leaveScope(bool failed = false);
  // Finds [function_server_] again after a device's scope has begun or ended.
  void findFunctionServer() noexcept;
  void enterModule(const ExecutableFunction& function);
  // [frame] is the frame that a module's function returned to; returns its program.
  const Executable* leaveModule(const Frame* frame) noexcept;
  // Lets [function_server_] call [callee] with the arguments at [passed], which it takes; returns the result.
  [[gnu::noinline]] IValue callServed(const ExecutableFunction& callee, IValue* passed);
  // Leaves all frames above the mark's and ends the scopes that began there. Errors on the way are added to [message].
  std::vector<ScriptFrame> unwind(const Mark& mark, bool runs_exits, std::string& message) noexcept;
  // Adds to the [message] of an error the operator that was called, or the argument that did not fit it.
  std::string explain(std::string message, const Mark& mark, const Stack& stack) const;
  // Ends the call that [mark] began, and throws what a script's user sees of [error].
  [[noreturn]] void fail(const std::exception& error, const Mark& mark, Stack& stack);

  RunLimits limits_;
  std::unique_ptr<Frame[]> frames_;
  size_t frame_capacity_ = 0;
  Frame* top_;  // the running frame; frames_[0] is unused
  Frame* end_;
  std::vector<Segment> segments_;
  std::vector<std::unique_ptr<OpenScope>> scopes_;
  // The innermost scope that serves function calls, and the frame whose calls it serves: those that the block itself
  // makes. Null if there is none.
  Scope* function_server_ = nullptr;
  const Frame* served_frame_ = nullptr;
  std::unordered_map<const CodeFunction*, GraphedFunction> graphed_functions_;
  std::vector<Once*> held_;
  std::vector<OpenFolder> folders_;
  uint32_t native_depth_ = 0;
  std::vector<IValue>* variables_ = nullptr;  // from runInput()
  bool is_unwinding_ = false;                 // code that runs now ends a failed run, under that run's limits
  uint32_t seen_interrupts_ = 0;
  bool counts_ = false;  // a limit of instructions or of time is set; time is checked after each share
  uint64_t instructions_left_ = 0;
  uint64_t later_instructions_ = 0;
  Clock::time_point deadline_ = Clock::time_point::max();
  // Released when memory runs out, so that there is enough to report it.
  std::unique_ptr<std::byte[]> reserve_;
};

}  // namespace boxcar::interp
