#include <boxcar/interpreter/runtime/interrupt.h>
#include <boxcar/interpreter/runtime/machine.h>
#include <boxcar/interpreter/runtime/run_stop.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

namespace boxcar {

constinit std::atomic<uint32_t> detail::interrupt_requests = 0;

namespace interp {
namespace {

constexpr size_t kSegmentSlots = 1U << 16;
constexpr size_t kReserve = 1U << 18;
constexpr double kMostSeconds = 1e9;
// The number of instructions between two checks of the clock.
constexpr uint64_t kShare = 4096;

constexpr ExecutableFunction kNoFunction{};

// Null if the thread has run no script: asking about a script does not create a machine.
constinit thread_local const Machine* machine_of_thread = nullptr;

constexpr detail::ScriptReader kReader = {
    [] { return machine_of_thread == nullptr ? std::vector<CallFrame>() : machine_of_thread->callPath(); },
    [](const Tensor& tensor) {
      return machine_of_thread == nullptr ? std::string() : machine_of_thread->keyOf(tensor);
    },
    [](const void** to, size_t room) noexcept {
      return machine_of_thread == nullptr ? size_t{0} : machine_of_thread->places(to, room);
    }};

// Calls the function, whose arguments are after slot 0, and stores its result there.
struct Entry {
  Entry(const Executable& program, uint32_t index, uint16_t argument_count)
      : code{Instruction::wide(Opcode::CallFunction, 0, static_cast<int32_t>(index)), {Opcode::Halt}} {
    function.program = &program;
    function.code = code;
    function.slots = 1;
    function.frame = 1U + argument_count;
    switch (program.unit().functions[index].result) {
      case SlotKind::Int: result = IValue(int64_t{0}); break;
      case SlotKind::Float: result = IValue(0.0); break;
      case SlotKind::Bool: result = IValue(false); break;
      case SlotKind::Value: break;
    }
  }

  Instruction code[2];
  ExecutableFunction function{};
  IValue result;
};

void checkArgumentKinds(const CodeFunction& function, const Stack& stack) {
  constexpr IValue::Tag kTags[] = {IValue::Tag::Int, IValue::Tag::Double, IValue::Tag::Bool};
  for (size_t i = 0; i < function.argument_count; ++i) {
    const SlotKind kind = function.slots[i];
    if (kind == SlotKind::Value) continue;
    const IValue& given = peek(stack, i, function.argument_count);
    BOXCAR_CHECK(given.tag() == kTags[static_cast<size_t>(kind)], "{}: argument {} is {}, but {} is needed",
                 function.name, i + 1, given.tagKind(), toString(kind));
  }
}

[[noreturn]] void failDepth(uint32_t limit, std::string_view what) {
  throw RunStop(fmt::format("more than {} nested {}: does the recursion end?", limit, what), ScriptErrorCause::Limit);
}

}  // namespace

Machine& Machine::current() {
  struct OfThread {
    OfThread() {
      machine_of_thread = &machine;
      detail::has_run_script = true;
    }
    ~OfThread() { machine_of_thread = nullptr; }
    Machine machine;
  };
  // A thread's static memory is short: size_test.sh says how short.
  thread_local const auto own = std::make_unique<OfThread>();
  return own->machine;
}

Machine::Machine() {
  setLimits(RunLimits());
  detail::setCallSiteReader([] { return machine_of_thread == nullptr ? std::nullopt : machine_of_thread->callSite(); });
  detail::setScriptReader(kReader);
  StopRequests requests = stopRequests();
  requests.of_runs = this;
  setStopRequests(requests);
}

Machine::~Machine() {
  StopRequests requests = stopRequests();
  requests.of_runs = nullptr;
  setStopRequests(requests);
}

void Machine::setLimits(const RunLimits& limits) {
  // Besides function calls: the unused first frame, the frame that makes the first call, and the statements' frame.
  const size_t frames = size_t{limits.max_depth} + 3;
  if (frame_capacity_ < frames) {
    frames_ = std::make_unique_for_overwrite<Frame[]>(frames);
    frame_capacity_ = frames;
  }
  limits_ = limits;
  counts_ = limits.max_instructions != RunLimits().max_instructions || limits.max_seconds != RunLimits().max_seconds;
  deadline_ = Clock::time_point::max();
  // A limit beyond the clock's range is no limit.
  if (limits.max_seconds < kMostSeconds) {
    deadline_ =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limits.max_seconds));
  }
  end_ = frames_.get() + frames;
  top_ = frames_.get();
  *top_ = {&kNoFunction, nullptr, nullptr, nullptr};
}

void Machine::run(const Executable& program, uint32_t function, Stack& stack, const RunLimits& limits) {
  if (native_depth_ != 0 || is_unwinding_ || limits == limits_) return call(program, function, stack);
  setLimits(limits);
  try {
    call(program, function, stack);
  } catch (...) {
    setLimits(RunLimits());
    throw;
  }
  setLimits(RunLimits());
}

void Machine::runInput(const Executable& program, Stack& stack, const RunLimits& limits,
                       std::vector<IValue>& variables) {
  BOXCAR_CHECK(native_depth_ == 0 && !is_unwinding_, "an input of a session cannot run while a script does");
  variables_ = &variables;
  try {
    run(program, 0, stack, limits);
  } catch (...) {
    variables_ = nullptr;
    throw;
  }
  variables_ = nullptr;
}

void Machine::call(const Executable& program, uint32_t function, Stack& stack) {
  const CodeFunction& source = program.unit().functions[function];
  const uint16_t count = source.argument_count;
  BOXCAR_CHECK(stack.size() >= count, "{} takes {} arguments, but the stack has {} values", source.name, count,
               stack.size());
  checkArgumentKinds(source, stack);
  if (native_depth_ >= kMaxNativeDepth) failDepth(kMaxNativeDepth, "calls of operators");
  if (native_depth_ == 0 && !is_unwinding_) {
    seen_interrupts_ = detail::interrupt_requests.load(std::memory_order_relaxed);
    if (counts_) [[unlikely]] {
      later_instructions_ = limits_.max_instructions;
      takeShare();
    }
    if (reserve_ == nullptr) reserve_ = std::make_unique_for_overwrite<std::byte[]>(kReserve);
  }

  std::optional<FileAccessGuard> files;
  const std::string* const folder = program.folder();
  if (folder != nullptr && fileAccess().folder != *folder) files.emplace(fileAccess().withFolder(*folder));
  Entry entry(program, function, count);
  const Mark mark{top_, stack.size() - count, scopes_.size(), held_.size(), folders_.size()};
  Frame* const frame = enter(top_, &entry.function, top_->slots + top_->function->frame);
  new (frame->slots) IValue(std::move(entry.result));
  for (size_t i = 0; i < count; ++i) new (frame->slots + 1 + i) IValue(std::move(peek(stack, i, count)));
  drop(stack, count);
  frame->pc = entry.code;
  top_ = frame;
  ++native_depth_;
  try {
    if (counts_) [[unlikely]] {
      execute<true>(&program, stack);
    } else {
      execute<false>(&program, stack);
    }
    BOXCAR_INTERNAL_ASSERT(scopes_.size() == mark.scopes);
    if (held_.size() != mark.held) [[unlikely]] {
      frame->slots[0] = IValue();  // nobody takes it
      BOXCAR_FAIL("bad bytecode: {}: it does not finish what it begins", source.name);
    }
  } catch (const std::exception& error) {
    --native_depth_;
    fail(error, mark, stack);
  }
  --native_depth_;
  stack.push_back(std::move(frame->slots[0]));
  top_ = mark.base;
}

void Machine::poll(Frame* frame, const Instruction* pc) {
  frame->pc = pc;
  stop();
}

void Machine::checkStop() const {
  // Without a run, the caller is C++, which has StopGuard.
  if (native_depth_ != 0 && (isInterrupted() || isLate())) stop();
}

void Machine::stop() const {
  if (isInterrupted()) throw RunStop("interrupted", ScriptErrorCause::Interrupt);
  throw RunStop(fmt::format("the run took more than {} seconds, which is its limit", limits_.max_seconds),
                ScriptErrorCause::Limit);
}

bool Machine::isInterrupted() const noexcept {
  return detail::interrupt_requests.load(std::memory_order_relaxed) != seen_interrupts_;
}

void Machine::takeShare() noexcept {
  const bool has_deadline = deadline_ != Clock::time_point::max();
  instructions_left_ = has_deadline ? std::min(later_instructions_, kShare) : later_instructions_;
  later_instructions_ -= instructions_left_;
}

Machine::Frame* Machine::enterNextSegment(Frame* caller, const ExecutableFunction* callee, IValue* slots,
                                          uint32_t passed) {
  try {
    if (caller + 1 == end_) failDepth(limits_.max_depth, "calls");
    const Segment& segment = segmentAfter(caller->limit, callee->frame);
    std::uninitialized_move_n(slots, passed, segment.begin);
    Frame* const frame = caller + 1;
    frame->function = callee;
    frame->slots = segment.begin;
    frame->limit = segment.end;
    return frame;
  } catch (...) {
    std::destroy_n(slots, passed);
    throw;
  }
}

const Machine::Segment& Machine::segmentAfter(const IValue* limit, size_t slots) {
  const auto used = std::ranges::find_if(segments_, [limit](const Segment& segment) { return segment.end == limit; });
  const size_t next = used == segments_.end() ? 0 : static_cast<size_t>(used - segments_.begin()) + 1;
  if (next == segments_.size()) segments_.emplace_back();
  Segment& segment = segments_[next];
  if (static_cast<size_t>(segment.end - segment.begin) < slots) {
    const size_t size = std::max(slots, kSegmentSlots);
    segment = {};
    segment.memory = std::make_unique_for_overwrite<std::byte[]>(size * sizeof(IValue));
    segment.begin = reinterpret_cast<IValue*>(segment.memory.get());
    segment.end = segment.begin + size;
  }
  return segment;
}

}  // namespace interp
}  // namespace boxcar
