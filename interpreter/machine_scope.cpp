// What begins while a machine runs, and ends however that is left: scopes, modules, what is done once.

#include <boxcar/interpreter/machine.h>
#include <boxcar/interpreter/run_stop.h>
#include <boxcar/interpreter/script_handler.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <new>
#include <utility>

namespace boxcar::interp {
namespace {

// Before what fails while scopes are ended because something failed; the first such counts.
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

// What a call stack calls a function; nothing for a script's statements.
std::string titleOf(const std::string& function) { return function == kScriptName ? std::string() : function; }

}  // namespace

bool Machine::begin(Once& once, std::string_view what) {
  BOXCAR_CHECK(std::ranges::find(held_, &once) == held_.end(), "{} is being set already, further out in this run", what);
  if (!once.begin()) return false;
  held_.push_back(&once);
  return true;
}

void Machine::finish(Once& once) {
  BOXCAR_CHECK(!held_.empty() && held_.back() == &once, "bad bytecode: something is finished that was not begun last");
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

void Machine::leaveScope() {
  const std::optional<OpenScope::Exit> exit = scopes_.back()->exit();
  scopes_.pop_back();
  if (!exit) return;
  const auto lock = lockHandlers();
  Stack stack;
  call(*exit->program, exit->function, stack);
}

void Machine::enterModule(const ExecutableFunction& function) {
  const std::string& folder = function.program->folder();
  if (fileAccess().folder == folder) return;
  folders_.push_back({top_ + 1, std::make_unique<FileAccessGuard>(fileAccess().withFolder(folder))});
}

const Executable* Machine::leaveModule(const Frame* frame) noexcept {
  if (!folders_.empty() && folders_.back().frame == frame + 1) folders_.pop_back();
  return frame->function->program;
}

std::vector<ScriptFrame> Machine::unwind(const Mark& mark, bool runs_exits, std::string& message) {
  std::vector<ScriptFrame> frames;
  for (Frame* frame = top_; frame != mark.base; --frame) {
    top_ = frame;
    while (folders_.size() > mark.folders && folders_.back().frame > frame) folders_.pop_back();
    while (scopes_.size() > mark.scopes && scopes_.back()->frame() == frame) {
      if (!runs_exits) {
        scopes_.pop_back();
        continue;
      }
      try {
        leaveScope();
      } catch (const std::exception& error) {
        const auto* inner = dynamic_cast<const ScriptError*>(&error);
        const std::string reason = inner != nullptr ? inner->reason() : messageOf(error);
        if (message.find(kInScopes) == std::string::npos) message += fmt::format("\n{}{})", kInScopes, reason);
      }
    }
    const ExecutableFunction& function = *frame->function;
    leave(frame);
    if (function.source == nullptr) continue;
    // Memory may run out before a function has said where it is.
    const auto at = static_cast<size_t>(frame->pc - function.code - 1);
    const std::vector<Span>& spans = function.source->spans;
    const Span span = at < spans.size() ? spans[at] : function.source->span;
    frames.push_back({titleOf(function.source->name), {function.source->source, span}});
  }
  top_ = mark.base;
  while (folders_.size() > mark.folders) folders_.pop_back();
  for (; held_.size() > mark.held; held_.pop_back()) held_.back()->abandon();
  std::ranges::reverse(frames);
  return frames;
}

// Throws what a script's user sees of [error].
void Machine::fail(const std::exception& error, const Mark& mark) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) reserve_.reset();
  const ScriptErrorCause cause = causeOf(error);
  const auto* inner = dynamic_cast<const ScriptError*>(&error);
  std::string message = inner != nullptr ? inner->reason() : messageOf(error);
  std::vector<ScriptFrame> frames = unwind(mark, cause != ScriptErrorCause::Limit, message);
  if (inner != nullptr) frames.insert(frames.end(), inner->frames().begin(), inner->frames().end());
  throw ScriptError(std::move(message), std::move(frames), cause);
}

}  // namespace boxcar::interp
