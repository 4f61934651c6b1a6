#include "tests/numerics/case_call.h"

#include <boxcar/dispatcher/handlers/check/meta_checker.h>
#include <boxcar/dispatcher/handlers/check/schema_checker.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/numerics/case_batches.h"
#include "tests/numerics/case_bits.h"
#include "tests/numerics/case_check.h"
#include "tests/numerics/case_fake.h"
#include "tests/numerics/case_functional.h"
#include "tests/numerics/case_gradients.h"
#include "tests/numerics/device_copies.h"
#include "tests/numerics/typed_calls.h"

namespace boxcar::numerics {
namespace {

std::map<std::string, TypedCall>& typedCalls() {
  static std::map<std::string, TypedCall> calls;
  return calls;
}

OperatorName nameOf(const std::string& op) {
  const size_t dot = op.find('.');
  if (dot == std::string::npos) return {op, ""};
  return {op.substr(0, dot), op.substr(dot + 1)};
}

std::optional<OperatorHandle> findOperator(const std::string& op) {
  return Dispatcher::singleton().findSchema(nameOf(op));
}

// `fn call(Tensor a0, …) -> Tensor { return aten::add.Tensor(a0, …, alpha=a2) }`
std::string scriptFor(const FunctionSchema& schema) {
  std::vector<std::string> parameters;
  std::vector<std::string> arguments;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const Argument& argument = schema.arguments()[i];
    parameters.push_back(fmt::format("{} a{}", argument.type()->text(), i));
    arguments.push_back(argument.kwarg_only() ? fmt::format("{}=a{}", argument.name(), i) : fmt::format("a{}", i));
  }
  const std::string call =
      fmt::format("{}.{}({})", schema.name(), schema.overload_name().empty() ? "default" : schema.overload_name(),
                  fmt::join(arguments, ", "));
  std::vector<std::string> types;
  std::vector<std::string> results;
  for (const Argument& result : schema.returns()) {
    results.push_back(fmt::format("r{}", results.size()));
    types.emplace_back(result.type()->text());
  }
  const std::string head = fmt::format("fn call({}) -> ", fmt::join(parameters, ", "));
  if (types.empty()) return fmt::format("{}() {{ {} }}\n", head, call);
  if (types.size() == 1) return fmt::format("{}{} {{ return {} }}\n", head, types[0], call);
  const std::string names = fmt::format("{}", fmt::join(results, ", "));
  return fmt::format("{}({}) {{\n  {} = {}\n  return {}\n}}\n", head, fmt::join(types, ", "), names, call, names);
}

// Compiles one script for each operator and keeps it.
const Program::Function& scriptOf(const OperatorHandle& op) {
  struct Script {
    Program program;
    Program::Function function;
  };
  static std::map<std::string, std::unique_ptr<Script>> scripts;
  std::unique_ptr<Script>& script = scripts[toString(op)];
  if (!script) {
    Program program = Program::compile(scriptFor(op.schema()), "case.ops");
    Program::Function function = program.function("call");
    script.reset(new Script{std::move(program), std::move(function)});
  }
  return script->function;
}

template <class Checker>
void callChecked(const OperatorHandle& op, Stack& stack) {
  Checker checker;
  const HandlerGuard on(checker);
  op.callBoxed(stack);
}

void call(const OperatorHandle& op, Way way, Stack& stack) {
  switch (way) {
    case Way::kBoxed: return op.callBoxed(stack);
    case Way::kTyped: {
      const TypedCall* typed = findTypedCall(toString(op));
      BOXCAR_CHECK(typed != nullptr, "{} has no typed function", op);
      return (*typed)(op, stack);
    }
    case Way::kScript: return scriptOf(op).call(stack);
    case Way::kSchema: return callChecked<SchemaChecker>(op, stack);
    case Way::kMeta: return callChecked<MetaChecker>(op, stack);
    case Way::kFake:
    case Way::kGradients:
    case Way::kBatches:
    case Way::kFunctionalize:
    case Way::kBits: break;  // runCase() compares other things
  }
}

// Errors of scripts have further lines that say where they happened.
std::string firstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

Device case_device = DeviceType::CPU;

// Makes the call on the device of the cases, and brings the results and the changed arguments back.
void callThere(const OperatorHandle& op, Way way, Stack& stack) {
  if (case_device.is_cpu()) return call(op, way, stack);
  DeviceCopies copies(case_device);
  Stack there = copies.toDevice(stack);
  try {
    call(op, way, there);
  } catch (...) {
    copies.updateHost();
    throw;
  }
  copies.updateHost();
  stack.clear();
  for (const IValue& result : there) stack.push_back(copies.toHost(result));
}

// Returns the text of the Error that the call throws; nullopt if it throws none.
std::optional<std::string> errorOf(const OperatorHandle& op, Way way, Stack& stack) {
  try {
    callThere(op, way, stack);
  } catch (const Error& error) {
    return firstLine(error.what());
  }
  return std::nullopt;
}

std::optional<std::string> runError(const Case& expected, const OperatorHandle& op, Way way,
                                    const CaseArguments& arguments) {
  Stack stack = arguments.values;
  auto error = errorOf(op, way, stack);
  if (!error) return fmt::format("it should be refused (PyTorch: {})", expected.error());
  if (error->empty()) return "it is refused without a word";
  if (!case_device.is_cpu() && error->find("for dispatch key") != std::string::npos) return error;
  if (error->find("has no kernel") != std::string::npos && !hasKernel(expected.op())) return error;
  if (way == Way::kSchema || way == Way::kMeta) {
    // An error of the checker itself is not the operator's.
    const CaseArguments again = expected.makeArguments(op.schema());
    Stack other = again.values;
    const auto plain = errorOf(op, Way::kBoxed, other);
    if (plain != error) return fmt::format("the checker says: {}", *error);
  }
  // A kernel on a device may report an error only after it wrote other elements.
  if (error->find("An earlier operator on") != std::string::npos) return std::nullopt;
  return differenceOfArguments(expected, arguments);
}

}  // namespace

TypedCalls::TypedCalls(std::initializer_list<std::pair<const char*, TypedCall>> calls) {
  for (const auto& [name, call] : calls) typedCalls().emplace(name, call);
}

const TypedCall* findTypedCall(const std::string& op) {
  const auto found = typedCalls().find(op);
  return found == typedCalls().end() ? nullptr : &found->second;
}

std::string_view toString(Way way) {
  switch (way) {
    case Way::kBoxed: return "boxed";
    case Way::kTyped: return "typed";
    case Way::kScript: return "script";
    case Way::kSchema: return "schema";
    case Way::kMeta: return "meta";
    case Way::kFake: return "fake";
    case Way::kGradients: return "gradients";
    case Way::kBatches: return "batches";
    case Way::kFunctionalize: return "functionalize";
    case Way::kBits: return "bits";
  }
  return "";
}

std::optional<std::string> runCase(const Case& expected, Way way) {
  if (way == Way::kGradients) return failureOf(expected, gradientOutcome(expected));
  try {
    const auto op = findOperator(expected.op());
    if (!op) return "there is no such operator";
    if (way == Way::kFake) return fakeDifference(expected, *op);
    if (way == Way::kBatches) return case_device.is_cpu() ? differenceOfBatches(expected, *op) : std::nullopt;
    if (way == Way::kFunctionalize) return case_device.is_cpu() ? functionalDifference(expected, *op) : std::nullopt;
    if (way == Way::kBits) return case_device.is_cpu() ? differenceOfBits(expected, *op) : std::nullopt;
    const CaseArguments arguments = expected.makeArguments(op->schema());
    if (expected.isError()) return runError(expected, *op, way, arguments);
    Stack stack = arguments.values;
    callThere(*op, way, stack);
    if (auto difference = differenceOfResults(expected, op->schema(), last(stack, stack.size()), arguments)) {
      return difference;
    }
    return differenceOfArguments(expected, arguments);
  } catch (const std::exception& error) {
    return firstLine(error.what());
  }
}

std::string describeCall(const Case& expected) {
  const auto op = findOperator(expected.op());
  if (!op) return expected.op();
  try {
    return expected.op() + describe(op->schema(), expected.makeArguments(op->schema()));
  } catch (const std::exception& error) {
    return expected.op() + ": " + error.what();
  }
}

void setCaseDevice(Device device) { case_device = device; }
Device caseDevice() { return case_device; }

void openCaseDevice() {
  if (!case_device.is_cpu()) StorageImpl::allocate(1, case_device);
}

bool hasKernel(const std::string& op) {
  const auto found = findOperator(op);
  return found && (found->hasComputedKernelForDispatchKey(toDispatchKey(case_device.type())) ||
                   found->hasComputedKernelForDispatchKey(DispatchKey::Undefined));
}

}  // namespace boxcar::numerics
