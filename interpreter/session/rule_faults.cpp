#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/prepare/rules.h>
#include <boxcar/interpreter/session/library_scripts.h>
#include <boxcar/interpreter/session/module_files.h>
#include <boxcar/interpreter/session/prepared_program.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/stack.h>
#include <boxcar/ivalue/tuple.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace boxcar::interp {
namespace {

constexpr double kTolerance = 1e-5;

// Calls an operator of tensors that gives a tensor.
template <class... Values>
Tensor tensorOf(const char* op, const char* overload, Values&&... values) {
  Stack stack;
  push(stack, std::forward<Values>(values)...);
  Dispatcher::singleton().findSchemaOrThrow(op, overload).callBoxed(stack);
  return pop(stack).toTensor();
}

double greatest(const Tensor& tensor) {
  const Tensor absolute = tensorOf("aten::abs", "", tensor);
  Stack stack;
  push(stack, tensorOf("aten::max", "", absolute));
  Dispatcher::singleton().findSchemaOrThrow("aten::item", "").callBoxed(stack);
  return pop(stack).toScalar().toDouble();
}

// Returns how the sides differ; "" if they do not.
std::string differenceOf(const Tensor& before, const Tensor& after) {
  if (!std::ranges::equal(before.sizes(), after.sizes())) return "results of other shapes";
  if (before.scalar_type() != after.scalar_type()) return "results of other dtypes";
  if (before.numel() == 0) return {};
  const double difference = greatest(tensorOf("aten::sub", "Tensor", before, after, 1));
  if (difference <= kTolerance * greatest(before)) return {};
  return fmt::format("results that differ by {}", difference);
}

std::string faultOf(const Program& program, const FunctionSchema& rule) {
  try {
    Stack stack;
    for (const Argument& parameter : rule.arguments()) {
      Stack example;
      program.function(exampleName(parameter.name())).call(example);
      push(stack, pop(example));
    }
    program.function(rule.name()).call(stack);
    const IValue after = pop(stack);
    const IValue before = pop(stack);
    return differenceOf(before.toTensor(), after.toTensor());
  } catch (const Error& error) {
    return fmt::format("an error: {}", error.message());
  }
}

std::vector<std::string> faultsOf(std::string text, const std::string& name) {
  {
    ModuleFiles files(name);
    const Rules rules(Source::create(name, text), &files);
  }
  const Program program = Program::compile(std::move(text), name);
  program.run();
  std::vector<std::string> faults;
  for (const FunctionSchema& schema : program.functions()) {
    if (!isRule(schema)) continue;
    const std::string fault = faultOf(program, schema);
    if (!fault.empty())
      faults.push_back(fmt::format("{}: the sides of the rule `{}` give {}", name, schema.name(), fault));
  }
  return faults;
}

}  // namespace

std::vector<std::string> faultsOfRules(const std::string& path) { return faultsOf(readFile(path), nameOfFile(path)); }

std::vector<std::string> faultsOfLibraryRules() {
  const std::string name = std::string(kLibraryFolder) + "rewrites.ops";
  return faultsOf(std::string(*libraryText(name)), name);
}

}  // namespace boxcar::interp
