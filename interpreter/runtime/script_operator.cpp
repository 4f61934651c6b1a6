#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/runtime/container_operations.h>
#include <boxcar/interpreter/runtime/machine.h>
#include <boxcar/interpreter/runtime/script_operator.h>
#include <boxcar/interpreter/runtime/value_operations.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/value_type.h>

namespace boxcar::interp {
namespace {

// The kernel of an operator whose body is a function of [program].
struct ScriptKernel {
  std::shared_ptr<const Executable> program;
  uint32_t function;

  void operator()(const OperatorHandle& op, Stack& stack) const {
    checkOperatorArguments(op, stack);
    // A running body keeps its code alive even if the program is destroyed; schemas do not move.
    const std::shared_ptr<const Executable> pinned = program;
    const FunctionSchema& schema = op.schema();
    copyContainers(schema, last(stack, schema.arguments().size()));
    Machine::current().run(*pinned, function, stack, pinned->limits());
    spreadOperatorResults(schema, stack);
  }
};

[[noreturn, gnu::cold, gnu::noinline]] void failArgument(const OperatorHandle& op, const Argument& argument,
                                                         size_t position, const IValue& value) {
  BOXCAR_FAIL("{}(): argument '{}' (position {}) must be {}, not {}\n  {}", op, argument.name(), position + 1,
              *argument.type(), kindName(value), op.schema());
}

}  // namespace

void checkOperatorArguments(const OperatorHandle& op, const Stack& stack) {
  const std::vector<Argument>& arguments = op.schema().arguments();
  BOXCAR_CHECK(stack.size() >= arguments.size(), "{}() takes {} arguments, but the stack has {} values", op,
               arguments.size(), stack.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const IValue& value = peek(stack, i, arguments.size());
    if (!matches(value, arguments[i].type())) [[unlikely]]
      failArgument(op, arguments[i], i, value);
  }
}

void copyContainers(const FunctionSchema& schema, std::span<IValue> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].isList() && !arguments[i].isGenericDict()) continue;
    if (i < schema.arguments().size() && schema.arguments()[i].is_write()) continue;
    arguments[i] = arguments[i].isList() ? copyOfList(arguments[i]) : arguments[i].toGenericDict().copy();
  }
}

void spreadOperatorResults(const FunctionSchema& schema, Stack& stack) {
  if (schema.returns().size() == 1) return;
  const IValue result = pop(stack);
  if (schema.returns().empty()) return;
  // Compiled bodies return such a tuple; assembled ones may not.
  BOXCAR_CHECK(result.isTuple() && result.length() == schema.returns().size(),
               "{}(): its body must return a tuple of {} values, not {}", toString(schema.operator_name()),
               schema.returns().size(), kindName(result));
  for (const IValue& element : result.toTuple().elements()) stack.push_back(element);
}

OperatorRegistration registerOperator(const std::shared_ptr<Executable>& program, const CodeOperator& op) {
  const Source& source = *program->unit().source;
  const RegistrationSite site = RegistrationSite::ofScript(source.name(), source.position(op.span.begin).line);
  OperatorRegistration handles;
  handles.push_back(Dispatcher::singleton().registerDef(op.schema, site));
  if (!op.function) return handles;
  handles.push_back(Dispatcher::singleton().registerImpl(
      op.schema.operator_name(), DispatchKey::CompositeImplicitAutograd,
      KernelFunction::makeFromBoxedFunctor(ScriptKernel{program, *op.function}), site));
  return handles;
}

std::vector<OperatorRegistration> registerOperators(const std::shared_ptr<Executable>& program) {
  std::vector<OperatorRegistration> registrations;
  for (const CodeOperator& op : program->unit().operators) registrations.push_back(registerOperator(program, op));
  return registrations;
}

}  // namespace boxcar::interp
