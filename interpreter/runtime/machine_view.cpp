// What others may query about a machine while it runs.

#include <boxcar/interpreter/runtime/graphed_function.h>
#include <boxcar/interpreter/runtime/machine.h>
#include <boxcar/ivalue/dict.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace boxcar::interp {
namespace {

// Returns the source position of [pc], the instruction after the current one.
CallSite siteOf(const CodeFunction& function, const Instruction* pc) {
  const auto at = static_cast<size_t>(pc - function.code.data() - 1);
  const Span span = at < function.spans.size() ? function.spans[at] : function.span;
  const uint32_t line = function.source->position(span.begin).line;
  std::string text(function.source->line(line));
  text.erase(0, text.find_first_not_of(" \t"));
  return {function.source->name(), line, std::move(text)};
}

// Returns the function's code if it has a source.
const CodeFunction* sourceOf(const ExecutableFunction& function) noexcept {
  return function.source != nullptr && function.source->source != nullptr ? function.source : nullptr;
}

constexpr int kMostNested = 8;

// Returns "layer.weight": the keys that lead from [value] to [tensor].
std::string keyOf(const IValue& value, const Tensor& tensor, int depth) {
  if (!value.isGenericDict() || depth == kMostNested) return {};
  const GenericDict dict = value.toGenericDict();
  for (size_t i = 0; i < dict.size(); ++i) {
    const IValue& held = dict.object()->valueAt(i);
    const bool is_it = held.isTensor() && held.toTensor().is_same(tensor);
    if (!is_it && !held.isGenericDict()) continue;
    const std::string inner = is_it ? std::string() : keyOf(held, tensor, depth + 1);
    if (!is_it && inner.empty()) continue;
    const IValue& key = dict.object()->keyAt(i);
    const std::string text = key.isString() ? key.toStringRef() : fmt::format("{}", key);
    return is_it ? text : text + "." + inner;
  }
  return {};
}

}  // namespace

std::optional<CallSite> Machine::callSite() const {
  for (const Frame* frame = top_; frame->function->program != nullptr; --frame) {
    if (const CodeFunction* function = sourceOf(*frame->function)) return siteOf(*function, frame->pc);
  }
  return std::nullopt;
}

std::vector<CallFrame> Machine::callPath() const {
  std::vector<CallFrame> path;
  for (const Frame* frame = top_; frame->function->program != nullptr; --frame) {
    const CodeFunction* function = sourceOf(*frame->function);
    if (function == nullptr) continue;
    std::string_view name = function->name == kScriptName ? "" : nameOfFunction(function->name);
    if (name.starts_with("op ")) name.remove_prefix(3);
    path.push_back({std::string(name), siteOf(*function, frame->pc)});
  }
  std::ranges::reverse(path);
  return path;
}

size_t Machine::places(const void** to, size_t room) const noexcept {
  size_t count = 0;
  for (const Frame* frame = top_; frame->function->program != nullptr && count < room; --frame) {
    if (sourceOf(*frame->function) != nullptr) to[count++] = frame->pc;
  }
  return count;
}

std::string Machine::keyOf(const Tensor& tensor) const {
  for (const Frame* frame = top_; frame->function->program != nullptr; --frame) {
    const ExecutableFunction& function = *frame->function;
    for (uint32_t i = 0; i < function.value_count; ++i) {
      std::string key = interp::keyOf(frame->slots[function.values[i]], tensor, 0);
      if (!key.empty()) return key;
    }
    if (function.source == nullptr) continue;
    const CodeUnit& unit = function.program->unit();
    for (uint32_t i = 0; i < unit.globals.size(); ++i) {
      const GlobalValue& global = function.program->global(i);
      std::string key = global.once.isDone() ? interp::keyOf(global.value, tensor, 0) : std::string();
      if (!key.empty()) return key;
    }
  }
  return {};
}

}  // namespace boxcar::interp
