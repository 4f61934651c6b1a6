#pragma once

#include <boxcar/dispatcher/script_view.h>
#include <boxcar/interpreter/executable.h>
#include <boxcar/interpreter/graphed_function.h>
#include <boxcar/interpreter/limits.h>
#include <boxcar/interpreter/open_scope.h>
#include <boxcar/interpreter/script_error.h>
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

// Runs executables; one per thread. Calls of functions take their frames from memory that is kept and reused. An
// operator of a script that is called, by another script or from C++, runs on the same machine, above the frames that
// are there. What it calls is asked to stop where its run is interrupted.
class Machine final : private StopRequest {
 public:
  // Calls inside one another that pass through an operator, and so through C++'s stack.
  static constexpr uint32_t kMaxNativeDepth = 400;

  // This thread's machine.
  static Machine& current();

  Machine();
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // Calls a function with the arguments that are the last values of [stack] and replaces them by its result. Each
  // argument must be of its slot's kind. When it fails, with a ScriptError, the arguments are gone.
  void call(const Executable& program, uint32_t function, Stack& stack);
  // The same; [limits] hold where it is no part of another run.
  void run(const Executable& program, uint32_t function, Stack& stack, const RunLimits& limits);

  // The same for the statements of a session's input, where no other run is. Where they fail, what their variables hold
  // is left in [variables].
  void runInput(const Executable& program, Stack& stack, const RunLimits& limits, std::vector<IValue>& variables);

  // The line of a script that runs now; nothing where none does.
  std::optional<CallSite> callSite() const;

  // ---- machine_view.cpp: what detail::ScriptReader promises ----
  std::vector<CallFrame> callPath() const;
  size_t places(const void** to, size_t room) const noexcept;
  std::string keyOf(const Tensor& tensor) const;

 private:
  using Clock = std::chrono::steady_clock;

  struct Frame {
    const ExecutableFunction* function;
    const Instruction* pc;  // the instruction after the one that runs, where it may fail or call
    IValue* slots;
    IValue* limit;  // end of the memory that the slots lie in
  };
  struct Segment {
    std::unique_ptr<std::byte[]> memory;
    IValue* begin = nullptr;
    IValue* end = nullptr;
  };
  // The folder of a module whose function runs.
  struct OpenFolder {
    const Frame* frame;
    std::unique_ptr<FileAccessGuard> guard;
  };
  // What was there when a call began, and is there again when it ends.
  struct Mark {
    Frame* base;
    size_t height;  // of the stack, without the arguments
    size_t scopes;
    size_t held;
    size_t folders;
  };

  template <bool kCounts>
  void execute(const Executable* program, Stack& stack);
  // The frame above [caller], for slots at [slots] or in the next segment. The first [passed] slots hold values already
  // and move along.
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
  // Ends the run, which was interrupted or has no time left.
  [[noreturn, gnu::cold, gnu::noinline]] void poll(Frame* frame, const Instruction* pc);
  // The same from within an operator, on any thread.
  void checkStop() const override;
  [[noreturn]] void stop() const;
  bool isInterrupted() const noexcept;
  // Takes a further share of the run's instructions, for the one at [pc] and those behind it, or ends the run where
  // none are left, or no time.
  [[gnu::cold, gnu::noinline]] void nextShare(Frame* frame, const Instruction* pc);
  void takeShare() noexcept;
  // Whether the run has no time left.
  bool isLate() const noexcept { return deadline_ != Clock::time_point::max() && Clock::now() >= deadline_; }
  // Whether nothing more of the run could run.
  bool isSpent() const noexcept { return counts_ && ((instructions_left_ | later_instructions_) == 0 || isLate()); }
  const Segment& segmentAfter(const IValue* limit, size_t slots);
  // Destroys what the frame holds; the one below.
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
  // Finds [function_server_], after a scope of a device has begun or ended.
  void findFunctionServer() noexcept;
  void enterModule(const ExecutableFunction& function);
  // [frame] is the one that a module's function returned to; its program.
  const Executable* leaveModule(const Frame* frame) noexcept;
  // Has [function_server_] call [callee] with the arguments that lie at [passed], which it takes; its result.
  [[gnu::noinline]] IValue callServed(const ExecutableFunction& callee, IValue* passed);
  // Leaves all frames above the mark's, and ends what began there. What fails in doing so is added to [message].
  std::vector<ScriptFrame> unwind(const Mark& mark, bool runs_exits, std::string& message) noexcept;
  // [message] of what has just failed, with the operator that was called or the argument that did not fit it.
  std::string explain(std::string message, const Mark& mark, const Stack& stack) const;
  // Ends the call that [mark] began, and throws what a script's user sees of [error].
  [[noreturn]] void fail(const std::exception& error, const Mark& mark, Stack& stack);

  RunLimits limits_;
  std::unique_ptr<Frame[]> frames_;
  size_t frame_capacity_ = 0;
  Frame* top_;  // the frame that runs; frames_[0] is nobody's
  Frame* end_;
  std::vector<Segment> segments_;
  std::vector<std::unique_ptr<OpenScope>> scopes_;
  // The innermost of them that serves calls of functions, and whose calls: those that the block itself makes. Null
  // where there is none.
  DeviceScope* function_server_ = nullptr;
  const Frame* served_frame_ = nullptr;
  std::unordered_map<const CodeFunction*, GraphedFunction> graphed_functions_;
  std::vector<Once*> held_;
  std::vector<OpenFolder> folders_;
  uint32_t native_depth_ = 0;
  std::vector<IValue>* variables_ = nullptr;  // of runInput()
  bool is_unwinding_ = false;                 // what runs now ends a run that failed, and goes by its limits
  uint32_t seen_interrupts_ = 0;
  bool counts_ = false;  // there is a limit of instructions, or of time, which is looked at after a share of them
  uint64_t instructions_left_ = 0;
  uint64_t later_instructions_ = 0;
  Clock::time_point deadline_ = Clock::time_point::max();
  // Given back where memory runs out, so that there is some to say so with.
  std::unique_ptr<std::byte[]> reserve_;
};

}  // namespace boxcar::interp
