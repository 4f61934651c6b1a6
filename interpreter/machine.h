#pragma once

#include <boxcar/interpreter/executable.h>
#include <boxcar/interpreter/script_error.h>
#include <boxcar/ivalue/stack.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

namespace boxcar::interp {

// How far a run may go.
struct Limits {
  uint32_t max_depth = 10'000;      // calls inside one another, of functions and of the script's operators
  uint32_t max_native_depth = 400;  // of them, calls that pass through an operator and so through C++'s stack
};

// Runs executables; one per thread. Calls of functions take their frames from memory that is kept and reused. An
// operator of a script that is called, by another script or from C++, runs on the same machine, above the frames that
// are there.
class Machine final {
 public:
  // This thread's machine.
  static Machine& current();

  Machine();
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // Calls a function with the arguments that are the last values of [stack] and replaces them by its result. Each
  // argument must be of its slot's kind. When it fails, with a ScriptError, the arguments are gone.
  void call(const Executable& program, uint32_t function, Stack& stack);

  const Limits& limits() const noexcept { return limits_; }
  // An Error while something runs.
  void setLimits(Limits limits);

 private:
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

  void execute(const Executable& program, Stack& stack);
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
  const Segment& segmentAfter(const IValue* limit, size_t slots);
  // Destroys what the frame holds; the one below.
  static Frame* leave(Frame* frame) noexcept {
    const ExecutableFunction& function = *frame->function;
    for (uint32_t i = 0; i < function.value_count; ++i) std::destroy_at(frame->slots + function.values[i]);
    return frame - 1;
  }
  [[noreturn]] void failWithCalls(const std::exception& error, Frame* base);

  Limits limits_;
  std::unique_ptr<Frame[]> frames_;
  Frame* top_;  // the frame that runs; frames_[0] is nobody's
  Frame* end_;
  std::vector<Segment> segments_;
  uint32_t native_depth_ = 0;
};

}  // namespace boxcar::interp
