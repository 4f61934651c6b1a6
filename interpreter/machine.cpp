#include <boxcar/interpreter/machine.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace boxcar::interp {
namespace {

constexpr size_t kSegmentSlots = 1U << 16;

constexpr ExecutableFunction kNoFunction{};

// Calls the function, whose arguments lie behind slot 0, and keeps its result there.
struct Entry {
  Entry(const Executable& program, uint32_t index, uint16_t argument_count)
      : code{Instruction::wide(Opcode::CallFunction, 0, static_cast<int32_t>(index)), {Opcode::Halt}} {
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

std::string messageOf(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "out of memory";
  return error.what();
}

// What a call stack calls a function; operators' names have a namespace.
std::string describe(const std::string& function) {
  if (function == kScriptName) return {};
  return (function.find("::") != std::string::npos ? "op " : "fn ") + function;
}

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

}  // namespace

Machine& Machine::current() {
  thread_local Machine machine;
  return machine;
}

Machine::Machine() { setLimits(Limits()); }

Machine::~Machine() = default;

void Machine::setLimits(Limits limits) {
  BOXCAR_CHECK(native_depth_ == 0, "the limits of a machine cannot change while a script runs on it");
  limits_ = limits;
  frames_ = std::make_unique_for_overwrite<Frame[]>(size_t{limits.max_depth} + 1);
  end_ = frames_.get() + limits.max_depth + 1;
  top_ = frames_.get();
  *top_ = {&kNoFunction, nullptr, nullptr, nullptr};
}

void Machine::call(const Executable& program, uint32_t function, Stack& stack) {
  const CodeFunction& source = program.unit().functions[function];
  const uint16_t count = source.argument_count;
  BOXCAR_CHECK(stack.size() >= count, "{} takes {} arguments, but the stack has {} values", source.name, count,
               stack.size());
  checkArgumentKinds(source, stack);
  BOXCAR_CHECK(native_depth_ < limits_.max_native_depth,
               "more than {} calls of operators inside one another: does the recursion end?", limits_.max_native_depth);

  Entry entry(program, function, count);
  Frame* const base = top_;
  Frame* const frame = enter(base, &entry.function, base->slots + base->function->frame);
  new (frame->slots) IValue(std::move(entry.result));
  for (size_t i = 0; i < count; ++i) new (frame->slots + 1 + i) IValue(std::move(peek(stack, i, count)));
  drop(stack, count);
  frame->pc = entry.code;
  top_ = frame;
  ++native_depth_;
  const size_t height = stack.size();
  try {
    execute(program, stack);
  } catch (const std::exception& error) {
    stack.resize(height);
    --native_depth_;
    failWithCalls(error, base);
  }
  --native_depth_;
  stack.push_back(std::move(frame->slots[0]));
  top_ = base;
}

Machine::Frame* Machine::enterNextSegment(Frame* caller, const ExecutableFunction* callee, IValue* slots,
                                          uint32_t passed) {
  try {
    BOXCAR_CHECK(caller + 1 != end_, "more than {} calls inside one another: does the recursion end?",
                 limits_.max_depth);
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

// Throws what a script's user sees of [error], and leaves all frames above [base].
void Machine::failWithCalls(const std::exception& error, Frame* base) {
  std::vector<ScriptFrame> frames;
  for (Frame* frame = base + 1; frame <= top_; ++frame) {
    const ExecutableFunction& function = *frame->function;
    leave(frame);
    if (function.source == nullptr) continue;
    const Span span = function.source->spans[static_cast<size_t>(frame->pc - function.code - 1)];
    frames.push_back({describe(function.source->name), {function.source->source, span}});
  }
  top_ = base;
  if (const auto* inner = dynamic_cast<const ScriptError*>(&error)) {
    frames.insert(frames.end(), inner->frames().begin(), inner->frames().end());
    throw ScriptError(inner->reason(), std::move(frames));
  }
  throw ScriptError(messageOf(error), std::move(frames));
}

}  // namespace boxcar::interp
