// What begins while a machine runs, and is always ended: scopes, modules, statements that run once.

#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/bytecode/verifier.h>
#include <boxcar/interpreter/runtime/conversion.h>
#include <boxcar/interpreter/runtime/failed_call.h>
#include <boxcar/interpreter/runtime/handler_object.h>
#include <boxcar/interpreter/runtime/interrupt.h>
#include <boxcar/interpreter/runtime/machine.h>
#include <boxcar/interpreter/runtime/overload.h>
#include <boxcar/interpreter/runtime/run_stop.h>
#include <boxcar/interpreter/runtime/script_handler.h>
#include <boxcar/interpreter/runtime/value_operations.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/value_type.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <unordered_map>
#include <utility>

namespace boxcar::interp {
namespace {

// Precedes an error that occurs while scopes are ended because of a failure; only the first such error is shown.
constexpr std::string_view kInScopes = "(and when the scopes were ended: ";

std::string messageOf(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "out of memory";
  return error.what();
}

ScriptErrorCause causeOf(const std::exception& error) {
  if (const auto* inner = dynamic_cast<const ScriptError*>(&error)) return inner->cause();
  if (const auto* stop = dynamic_cast<const RunStop*>(&error)) return stop->cause();
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ? ScriptErrorCause::Limit : ScriptErrorCause::Failure;
}

// Returns a function's name in call stacks; nothing for a script's statements.
std::string titleOf(const std::string& function) { return function == kScriptName ? std::string() : function; }

}  // namespace

bool Machine::begin(Once& once, std::string_view what) {
  BOXCAR_CHECK(std::ranges::find(held_, &once) == held_.end(), "{} is already being set further out in this run", what);
  if (!once.begin()) return false;
  held_.push_back(&once);
  return true;
}

void Machine::finish(Once& once) {
  BOXCAR_CHECK(!held_.empty() && held_.back() == &once, "bad bytecode: it finishes something that was not begun last");
  held_.pop_back();
  once.finish();
}

void Machine::storeGlobal(GlobalValue& global, const IValue& value) {
  BOXCAR_CHECK(!held_.empty() && held_.back() == &global.once, "bad bytecode: a constant is set outside of its Begin");
  global.value = value;
  finish(global.once);
}

void Machine::enterScope(const Executable& program, const CodeScope& scope) {
  scopes_.push_back(std::make_unique<OpenScope>(program, scope, top_));
}

void Machine::enterHandler(const IValue& handler) {
  if (auto scope = takeScope(handler)) {
    scopes_.push_back(std::make_unique<OpenScope>(std::move(scope), top_));
    findFunctionServer();
  } else {
    scopes_.push_back(std::make_unique<OpenScope>(takeHandler(handler), top_));
  }
}

void Machine::findFunctionServer() noexcept {
  function_server_ = nullptr;
  served_frame_ = nullptr;
  for (size_t i = scopes_.size(); i > 0 && function_server_ == nullptr; --i) {
    Scope* const scope = scopes_[i - 1]->scope();
    if (scope == nullptr || !scope->servesFunctions()) continue;
    function_server_ = scope;
    served_frame_ = static_cast<const Frame*>(scopes_[i - 1]->frame());
  }
}

IValue Machine::callServed(const ExecutableFunction& callee, IValue* passed) {
  std::vector<IValue> arguments;
  try {
    arguments.reserve(callee.arguments);
  } catch (...) {
    std::destroy_n(passed, callee.arguments);  // no frame owns them yet
    throw;
  }
  for (uint32_t i = 0; i < callee.arguments; ++i) {
    arguments.push_back(std::move(passed[i]));
    std::destroy_at(passed + i);
  }
  auto found = graphed_functions_.find(callee.source);
  if (found != graphed_functions_.end() && found->second.program.expired()) {
    graphed_functions_.erase(found);  // another function now has its address
    found = graphed_functions_.end();
  }
  if (found == graphed_functions_.end()) {
    std::erase_if(graphed_functions_, [](const auto& known) { return known.second.program.expired(); });
    found = graphed_functions_.emplace(callee.source, readGraphedFunction(callee)).first;
  }
  GraphedFunction& graphed = found->second;
  std::vector<IValue> constants;
  for (const auto& [program, index] : graphed.constants) {
    const GlobalValue& global = program->global(index);
    constants.push_back(global.once.isDone() ? global.value : IValue());
  }
  const auto index = static_cast<uint32_t>(callee.source - callee.program->unit().functions.data());
  const std::function<IValue(std::span<const IValue>)> run = [&](std::span<const IValue> values) {
    Stack stack;
    for (const IValue& value : values) stack.push_back(value);
    call(*callee.program, index, stack);
    return pop(stack);
  };
  return function_server_->call({nameOfFunction(callee.source->name), arguments, constants, run, graphed.kept});
}

void Machine::leaveScope(bool failed) {
  if (Scope* const scope = scopes_.back()->scope()) {
    const std::unique_ptr<OpenScope> kept = std::move(scopes_.back());
    scopes_.pop_back();
    findFunctionServer();
    scope->leave();
    return;
  }
  const std::optional<OpenScope::Exit> exit = scopes_.back()->exit();
  const std::unique_ptr<Handler> handler = scopes_.back()->close();
  scopes_.pop_back();
  if (handler != nullptr) {
    const std::string report = handler->finish(failed);
    std::fflush(stdout);
    std::fwrite(report.data(), 1, report.size(), stderr);
  }
  if (!exit) return;
  const auto lock = lockHandlers();
  Stack stack;
  call(*exit->program, exit->function, stack);
}

void Machine::enterModule(const ExecutableFunction& function) {
  const std::string* const folder = function.program->folder();
  if (folder == nullptr || fileAccess().folder == *folder) return;
  folders_.push_back({top_ + 1, std::make_unique<FileAccessGuard>(fileAccess().withFolder(*folder))});
}

const Executable* Machine::leaveModule(const Frame* frame) noexcept {
  if (!folders_.empty() && folders_.back().frame == frame + 1) folders_.pop_back();
  return frame->function->program;
}

// Everything is released, whatever fails on the way. If memory runs out, the rest of the message is dropped.
std::vector<ScriptFrame> Machine::unwind(const Mark& mark, bool runs_exits, std::string& message) noexcept {
  const auto say = [](auto what) {
    try {
      what();
    } catch (const std::exception&) {
    }
  };
  std::vector<ScriptFrame> frames;
  for (Frame* frame = top_; frame != mark.base; --frame) {
    top_ = frame;
    while (folders_.size() > mark.folders && folders_.back().frame > frame) folders_.pop_back();
    while (scopes_.size() > mark.scopes && scopes_.back()->frame() == frame) {
      if (!runs_exits) {
        scopes_.pop_back();
        findFunctionServer();
        continue;
      }
      try {
        leaveScope(true);
      } catch (const std::exception& error) {
        say([&] {
          const auto* inner = dynamic_cast<const ScriptError*>(&error);
          const std::string reason = inner != nullptr ? inner->reason() : messageOf(error);
          if (message.find(kInScopes) == std::string::npos) message += fmt::format("\n{}{})", kInScopes, reason);
        });
      }
    }
    const ExecutableFunction& function = *frame->function;
    // The first frame is unused, the second calls the statements.
    if (variables_ != nullptr && frame == frames_.get() + 2)
      say([&] { variables_->assign(frame->slots, frame->slots + function.arguments); });
    leave(frame);
    if (function.source == nullptr) continue;
    // The function may have run out of memory before it saved its position.
    const auto at = static_cast<size_t>(frame->pc - function.code - 1);
    const std::vector<Span>& spans = function.source->spans;
    const Span span = at < spans.size() ? spans[at] : function.source->span;
    say([&] { frames.push_back({titleOf(function.source->name), {function.source->source, span}}); });
  }
  top_ = mark.base;
  while (folders_.size() > mark.folders) folders_.pop_back();
  for (; held_.size() > mark.held; held_.pop_back()) held_.back()->abandon();
  std::ranges::reverse(frames);
  return frames;
}

std::string Machine::explain(std::string message, const Mark& mark, const Stack& stack) const {
  const CodeFunction* source = top_->function->source;
  if (source == nullptr) return message;
  const auto placeIn = [](const Frame& frame) { return static_cast<size_t>(frame.pc - frame.function->code - 1); };
  const size_t at = placeIn(*top_);
  const Instruction& instruction = source->code[at];
  const Executable& program = *top_->function->program;
  if (instruction.op != Opcode::CallOperator) {
    const std::vector<int64_t> heights = stackHeights(program.unit(), *source);
    const auto argument = argumentConvertedAt(program.unit(), *source, heights, at);
    if (!argument) return message;
    const Instruction& call = source->code[argument->call];
    const bool is_operator = call.op == Opcode::CallOperator;
    if (!is_operator && builtins()[call.a].variadic) return message;
    const FunctionSchema& schema = is_operator ? program.site(call.index()).op.schema() : builtins()[call.a].schema;
    const Argument& parameter = schema.arguments()[argument->position];
    const IValue& value = top_->slots[instruction.b];
    std::string what =
        fmt::format("{}(): argument '{}' must be {}, not {}",
                    is_operator ? toString(schema.operator_name()) : std::string(builtins()[call.a].name()),
                    parameter.name(), *parameter.type(), kindName(value));
    // The message explains errors in an element of a list, or in the text for a device.
    if (value.isList() || value.isTuple()) return what + ": " + message;
    const bool has_kind = conversionCost(typeOf(value), {parameter.type()}, {false, TypesFrom::kValues}).has_value();
    if (value.isNone() && parameter.type()->kind() == TypeKind::Tensor) return what.append(kRemedyForNone);
    return has_kind ? message : what;
  }
  // Here all values are as they were before the call.
  size_t height = mark.height;
  std::unordered_map<const CodeFunction*, std::vector<int64_t>> heights;
  for (const Frame* frame = top_; frame != mark.base; --frame) {
    const CodeFunction* function = frame->function->source;
    if (function == nullptr) continue;
    auto& known = heights[function];
    if (known.empty()) known = stackHeights(frame->function->program->unit(), *function);
    height += static_cast<size_t>(known[placeIn(*frame)]);
  }
  const std::string call = describeFailedCall(program.site(instruction.index()).op, stack, height, message);
  return call.empty() ? message : message + "\n  " + call;
}

void Machine::fail(const std::exception& error, const Mark& mark, Stack& stack) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) reserve_.reset();
  const ScriptErrorCause cause = causeOf(error);
  const auto* inner = dynamic_cast<const ScriptError*>(&error);
  std::string message;
  bool has_message = true;
  try {
    message = inner != nullptr ? inner->reason() : messageOf(error);
  } catch (const std::bad_alloc&) {
    has_message = false;
  }
  // The error of a script that fails within a call says more than the call itself.
  if (inner == nullptr && cause == ScriptErrorCause::Failure) {
    try {
      message = explain(message, mark, stack);
    } catch (const std::exception&) {
      // The message alone is enough.
    }
  }
  stack.resize(mark.height);
  // Code that ends the run is not interrupted, unless there is another interrupt.
  if (inner == nullptr && cause == ScriptErrorCause::Interrupt)
    seen_interrupts_ = detail::interrupt_requests.load(std::memory_order_relaxed);
  // Without instructions or time left, no exit block can run.
  const bool runs_exits = cause != ScriptErrorCause::Limit || !isSpent();
  const bool was_unwinding = std::exchange(is_unwinding_, true);
  std::vector<ScriptFrame> frames = unwind(mark, runs_exits, message);
  is_unwinding_ = was_unwinding;
  if (!has_message) throw std::bad_alloc();
  if (inner != nullptr) frames.insert(frames.end(), inner->frames().begin(), inner->frames().end());
  throw ScriptError(std::move(message), std::move(frames), cause);
}

}  // namespace boxcar::interp
