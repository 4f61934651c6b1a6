// What others may query about a machine while it runs.

#include <boxcar/interpreter/runtime/graphed_function.h>
#include <boxcar/interpreter/runtime/machine.h>
#include <boxcar/ivalue/dict.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
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

bool isTensor(const IValue& value, const Tensor& tensor) {
  return value.isTensor() && value.toTensor().is_same(tensor);
}

bool holdsValues(const IValue& value) {
  return value.isGenericDict() || value.isTensorList() || value.isTuple() ||
         (value.isList() && value.tag() == IValue::Tag::GenericList);
}

// Returns "layer.weight" or "layers.0.weight": the keys and positions that lead from [value] to [tensor].
std::string keyOf(const IValue& value, const Tensor& tensor, int depth) {
  if (!holdsValues(value) || depth == kMostNested) return {};
  const auto within = [&](const IValue& held, const auto& key) -> std::string {
    if (isTensor(held, tensor)) return key();
    const std::string inner = keyOf(held, tensor, depth + 1);
    return inner.empty() ? inner : key() + "." + inner;
  };
  if (!value.isGenericDict()) {
    for (size_t i = 0; i < value.length(); ++i) {
      std::string found = within(value.elementAt(i), [i] { return std::to_string(i); });
      if (!found.empty()) return found;
    }
    return {};
  }
  const GenericDict dict = value.toGenericDict();
  for (size_t i = 0; i < dict.size(); ++i) {
    const IValue& key = dict.object()->keyAt(i);
    std::string found = within(dict.object()->valueAt(i),
                               [&key] { return key.isString() ? key.toStringRef() : fmt::format("{}", key); });
    if (!found.empty()) return found;
  }
  return {};
}

// Does so for a constant, whose name is the key of the tensor that it is, and begins that of one in its list.
std::string keyInConstant(const std::string& name, const IValue& value, const Tensor& tensor) {
  if (isTensor(value, tensor)) return name;
  std::string key = keyOf(value, tensor, 0);
  return key.empty() || value.isGenericDict() ? key : name + "." + key;
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
  // Constants are first: a variable may hold a part of one.
  for (const Frame* frame = top_; frame->function->program != nullptr; --frame) {
    if (frame->function->source == nullptr) continue;
    const Executable& program = *frame->function->program;
    for (uint32_t i = 0; i < program.unit().globals.size(); ++i) {
      const GlobalValue& global = program.global(i);
      if (!global.once.isDone()) continue;
      std::string key = keyInConstant(program.unit().globals[i].name, global.value, tensor);
      if (!key.empty()) return key;
    }
  }
  for (const Frame* frame = top_; frame->function->program != nullptr; --frame) {
    const ExecutableFunction& function = *frame->function;
    for (uint32_t i = 0; i < function.value_count; ++i) {
      const IValue& value = frame->slots[function.values[i]];
      std::string key = value.isGenericDict() ? interp::keyOf(value, tensor, 0) : std::string();
      if (!key.empty()) return key;
    }
  }
  return {};
}

}  // namespace boxcar::interp
