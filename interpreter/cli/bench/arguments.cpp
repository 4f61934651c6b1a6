#include <boxcar/interpreter/cli/bench/arguments.h>
#include <boxcar/interpreter/cli/find_operator.h>
#include <boxcar/interpreter/cli/report.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/interpreter/session/session.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace boxcar::cli {
namespace {

Tensor filled(std::vector<int64_t> sizes, ScalarType type) {
  const Tensor tensor = Tensor::allocate(std::move(sizes), type);
  if (type == ScalarType::Float) {
    std::fill_n(static_cast<float*>(tensor.data_ptr()), tensor.numel(), 0.5F);
  } else {
    std::memset(tensor.data_ptr(), 0, tensor.nbytes());
  }
  return tensor;
}

// Returns a value for an argument without a default; nullopt if none is known for its type.
std::optional<IValue> makeUpValue(const Argument& argument) {
  const std::string_view name = argument.name();
  const auto named = [name](std::string_view part) { return name.find(part) != std::string_view::npos; };
  switch (argument.type()->kind()) {
    // Indexes are integers; all other tensors are treated as floating point numbers.
    case TypeKind::Tensor: return IValue(filled({4, 4}, named("ind") ? ScalarType::Long : ScalarType::Float));
    case TypeKind::Optional: return IValue();
    case TypeKind::Bool: return IValue(true);
    case TypeKind::Int:
    case TypeKind::SymInt:
    case TypeKind::Scalar: return IValue(int64_t{1});
    case TypeKind::Float: return IValue(0.5);
    case TypeKind::String: return IValue(std::string());
    case TypeKind::Device: return IValue(Device(DeviceType::CPU));
    case TypeKind::ScalarType: return IValue(static_cast<int64_t>(ScalarType::Float));
    case TypeKind::List: break;
    default: return std::nullopt;
  }
  switch (argument.type()->element()->kind()) {
    case TypeKind::Tensor:
      return IValue(List<Tensor>{filled({4, 4}, ScalarType::Float), filled({4, 4}, ScalarType::Float)});
    case TypeKind::Int:
    case TypeKind::SymInt:
      if (named("size") || named("shape")) return IValue(List<int64_t>{4, 4});
      if (named("dim")) return IValue(List<int64_t>{0, 1});
      return IValue(List<int64_t>{1, 1});
    case TypeKind::Float: return IValue(List<double>{0.5, 0.5});
    default: return std::nullopt;
  }
}

std::string remedy(const OperatorHandle& op) {
  return fmt::format("give its arguments with --args '[…]', an expression, in this order: {}", op.schema());
}

void tryOnce(const BenchCall& call, std::string_view what) {
  Stack stack(call.arguments);
  try {
    call.op.callBoxed(stack);
  } catch (const Error& error) {
    BOXCAR_FAIL("{} do not fit {}: {}; {}", what, call.op, error.message(), remedy(call.op));
  }
}

// Appends the schema's defaults for the remaining arguments.
void takeDefaults(BenchCall& call) {
  const std::vector<Argument>& parameters = call.op.schema().arguments();
  for (size_t i = call.arguments.size(); i < parameters.size(); ++i) {
    BOXCAR_CHECK(parameters[i].default_value().has_value(),
                 "--args gives no value for `{}` of {}, which has no default; {}", parameters[i].name(), call.op,
                 remedy(call.op));
    call.arguments.push_back(*parameters[i].default_value());
    call.is_written.push_back(false);
  }
}

// Returns the error for a text that gives no list. What is wrong with the text is reported for the text alone, because
// its author did not write the code that is put around it.
CLI::ValidationError noList(const OperatorHandle& op, const std::string& text) {
  try {
    static_cast<void>(Session().evaluate(text, "--args"));
  } catch (const CompileError& error) {
    reportError(error);
  } catch (const ScriptError& error) {
    reportError(error);
  }
  return {fmt::format("--args must be a list, such as '[ones([8, 8]), 2]', in this order: {}", op.schema()),
          CLI::ExitCodes::ValidationError};
}

GenericList evaluateList(const OperatorHandle& op, const std::string& text) {
  Stack stack;
  try {
    Program::compile("fn given() -> Any[] { return " + text + " }\n", "--args").function("given").call(stack);
  } catch (const Error&) {
    throw noList(op, text);
  }
  return stack.back().toList();
}

// Throws Error if the values are not those that the operator takes.
BenchCall convertArguments(const OperatorHandle& op, const GenericList& given) {
  const std::vector<Argument>& parameters = op.schema().arguments();
  BOXCAR_CHECK(given.size() <= parameters.size(), "--args gives {} values, more than {} takes; {}", given.size(), op,
               remedy(op));
  // Each value is converted by a function whose parameter has the argument's type, as every script function converts
  // its arguments.
  std::string convert;
  for (size_t i = 0; i < given.size(); ++i) {
    convert += fmt::format("fn convert_{0}({1} x) -> {1} {{ return x }}\n", i, *parameters[i].type());
  }
  const Program program = Program::compile(convert, "--args");
  BenchCall call{op, {}, {}};
  Stack stack;
  for (size_t i = 0; i < given.size(); ++i) {
    stack.push_back(given.get(i));
    try {
      program.function(fmt::format("convert_{}", i)).call(stack);
    } catch (const Error&) {
      BOXCAR_FAIL("`{}` of {} is of type {}, which value {} of --args is not; {}", parameters[i].name(), op,
                  *parameters[i].type(), i + 1, remedy(op));
    }
    call.arguments.push_back(pop(stack));
    call.is_written.push_back(true);
  }
  takeDefaults(call);
  return call;
}

}  // namespace

OperatorHandle findOperatorToCall(const std::string& name) {
  const OperatorHandle op = findOperator(name);
  BOXCAR_CHECK(!op.hasTag(Tag::io),
               "{} reads or writes outside of the program, so it cannot be called repeatedly; name another operator",
               op);
  BOXCAR_CHECK(!op.schema().is_vararg(), "{} takes any number of arguments, which is not measured; name another one",
               op);
  return op;
}

BenchCall makeUpCall(OperatorHandle op) {
  BenchCall call{op, {}, {}};
  for (const Argument& argument : op.schema().arguments()) {
    const bool is_written = !argument.default_value().has_value();
    const std::optional<IValue> value = is_written ? makeUpValue(argument) : argument.default_value();
    BOXCAR_CHECK(value.has_value(), "no value is known for `{}` of {}, a {}; {}", argument.name(), op, *argument.type(),
                 remedy(op));
    call.arguments.push_back(*value);
    call.is_written.push_back(is_written);
  }
  tryOnce(call, "made-up arguments");
  return call;
}

BenchCall readCall(OperatorHandle op, const std::string& text) {
  const GenericList given = evaluateList(op, text);
  BenchCall call{op, {}, {}};
  try {
    call = convertArguments(op, given);
  } catch (const Error& error) {
    throw CLI::ValidationError(error.message(), CLI::ExitCodes::ValidationError);
  }
  tryOnce(call, "the values of --args");
  return call;
}

std::string describeArguments(const BenchCall& call) {
  std::string text;
  for (const IValue& value : call.arguments) {
    if (!text.empty()) text += ", ";
    if (value.isTensor() && value.toTensor().defined()) {
      std::string sizes;
      for (const int64_t size : value.toTensor().sizes()) sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
      text += fmt::format("{}[{}]", dtypeName(value.toTensor().scalar_type()), sizes);
    } else if (value.isTensorList()) {
      text += fmt::format("{} tensors", value.toTensorList().size());
    } else {
      text += fmt::format("{}", value);
    }
  }
  return text;
}

}  // namespace boxcar::cli
