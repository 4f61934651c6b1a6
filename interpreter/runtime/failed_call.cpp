#include <boxcar/interpreter/bytecode/verifier.h>
#include <boxcar/interpreter/runtime/failed_call.h>
#include <boxcar/interpreter/syntax/utf8.h>
#include <boxcar/ivalue/layout.h>
#include <boxcar/ivalue/python_text.h>
#include <boxcar/ivalue/scalar_type.h>
#include <boxcar/schema/value_type.h>

#include <algorithm>
#include <string_view>

namespace boxcar::interp {
namespace {

// Longer texts and lists are shown in part, from their beginning.
constexpr size_t kMostText = 60;
constexpr size_t kMostElements = 8;

std::string tensorText(const Tensor& tensor) {
  if (!tensor.defined()) return "an undefined Tensor";
  std::string text(dtypeName(tensor.dtype()));
  text += '[';
  for (int64_t i = 0; i < tensor.dim(); ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", tensor.size(i));
  text += ']';
  if (tensor.device() != Device(DeviceType::CPU)) text += fmt::format(" on {}", tensor.device());
  return text;
}

std::string valueText(const IValue& value, TypePtr type);

std::string elementsText(const IValue& value, TypePtr type) {
  std::string text(value.isTuple() ? "(" : "[");
  const size_t shown = std::min(value.length(), kMostElements);
  for (size_t i = 0; i < shown; ++i) {
    if (i != 0) text += ", ";
    text += valueText(value.elementAt(i), type);
  }
  if (shown < value.length()) text += fmt::format(", … {} in all", value.length());
  return text += value.isTuple() ? ')' : ']';
}

// [type] tells what an int means.
std::string valueText(const IValue& value, TypePtr type) {
  if (type->isOptional()) type = type->element();
  if (value.isTensor()) return tensorText(value.toTensor());
  if (value.isList()) return elementsText(value, type->isList() ? type->element() : Type::any());
  if (value.isTuple()) return elementsText(value, Type::any());
  if (value.isGenericDict()) return fmt::format("a dict of {}", value.length());
  if (value.isString()) {
    const std::string_view text = value.toStringView();
    const std::string_view shown = utf8::beginning(text, kMostText);
    return pythonStringRepr(shown) + (shown.size() < text.size() ? "…" : "");
  }
  if (value.isInt()) {
    switch (type->kind()) {
      case TypeKind::ScalarType: return std::string(dtypeName(value.toScalarType()));
      case TypeKind::Layout: return std::string(layoutName(static_cast<Layout>(value.toInt())));
      case TypeKind::MemoryFormat: return std::string(memoryFormatName(static_cast<MemoryFormat>(value.toInt())));
      default: break;
    }
  }
  std::string text = repr(value);
  if (text.size() > kMostText) text = std::string(utf8::beginning(text, kMostText)) + "…";
  return text;
}

// Whether a call with these arguments reaches a kernel that leaves the stack alone. If the arguments still fit, the
// handlers on the way to it had them unchanged. [message] comes from such a handler if it begins with the operator's
// name.
bool callsUnboxedKernel(const OperatorHandle& op, const Stack& stack, std::string_view message) {
  const DispatchKeyExtractor& extractor = op.entry().dispatchKeyExtractor();
  DispatchKeySet keys = extractor.getDispatchKeySetBoxed(extractor.arguments(), stack);
  const Kernel* kernel = op.entry().lookup(keys);
  if (kernel->kind == KernelKind::Modes && message.starts_with(toString(op))) return false;
  while (kernel->kind == KernelKind::Modes || keys.highestFunctionalityKey() == DispatchKey::Tracer) {
    keys = keys.remove(keys.highestFunctionalityKey());
    kernel = op.entry().lookup(keys);
  }
  if (kernel->isFallthrough()) kernel = op.entry().lookupBelowFallthroughs(keys).first;
  return kernel->has_unboxed;
}

bool isConversion(Opcode op) {
  return op == Opcode::Convert || op == Opcode::UnboxInt || op == Opcode::UnboxFloat || op == Opcode::UnboxBool;
}

bool isPush(Opcode op) { return op == Opcode::Push || op == Opcode::PushMove || op == Opcode::PushScalar; }

}  // namespace

std::string describeCall(const OperatorHandle& op, std::span<const IValue> arguments) {
  const std::vector<Argument>& parameters = op.schema().arguments();
  std::string text = toString(op) + "(";
  bool is_first = true;
  for (size_t i = 0; i < arguments.size() && i < parameters.size(); ++i) {
    const Argument& parameter = parameters[i];
    if (arguments[i].isNone() && parameter.default_value() && parameter.default_value()->isNone()) continue;
    if (!is_first) text += ", ";
    is_first = false;
    text += fmt::format("{}: {}", parameter.name(), valueText(arguments[i], parameter.type()));
  }
  return text += ')';
}

std::string describeFailedCall(const OperatorHandle& op, const Stack& stack, size_t height, std::string_view message) {
  if (stack.size() != height || !op.hasSchema()) return {};
  const std::vector<Argument>& parameters = op.schema().arguments();
  if (parameters.empty() || height < parameters.size()) return {};
  const std::span<const IValue> arguments = last(stack, parameters.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!matches(arguments[i], parameters[i].type())) return {};
  }
  return callsUnboxedKernel(op, stack, message) ? describeCall(op, arguments) : std::string();
}

std::optional<ConvertedArgument> argumentConvertedAt(const CodeUnit& unit, const CodeFunction& function,
                                                     std::span<const int64_t> heights, size_t at) {
  if (!isConversion(function.code[at].op)) return std::nullopt;
  uint16_t slot = function.code[at].a;
  std::optional<int64_t> place;  // its position on the stack, once it is pushed
  // An argument is converted, pushed and consumed on one path, which is no longer than the code.
  size_t next = at + 1;
  for (size_t steps = 0; steps < function.code.size() && next < function.code.size(); ++steps) {
    const Instruction& instruction = function.code[next];
    const int64_t height = heights[next];
    if (!place) {
      if (isPush(instruction.op) && instruction.a == slot) {
        place = height;
      } else if (isConversion(instruction.op) && instruction.b == slot) {
        slot = instruction.a;
      } else {
        return std::nullopt;
      }
    } else if (const auto pops = static_cast<int64_t>(stackEffect(unit, instruction).takes); height - pops <= *place) {
      if (instruction.op != Opcode::CallOperator && instruction.op != Opcode::CallBuiltin) return std::nullopt;
      const Span call = function.spans[next];
      const Span argument = function.spans[at];
      if (argument.begin < call.begin || argument.end > call.end) return std::nullopt;
      return ConvertedArgument{next, static_cast<size_t>(*place - height + pops)};
    }
    next = instruction.op == Opcode::Jump ? static_cast<size_t>(static_cast<int64_t>(next) + 1 + instruction.wide())
                                          : next + 1;
  }
  return std::nullopt;
}

}  // namespace boxcar::interp
