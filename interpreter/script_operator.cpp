#include <boxcar/dispatcher/dispatcher.h>
#include <boxcar/interpreter/machine.h>
#include <boxcar/interpreter/script_operator.h>
#include <boxcar/interpreter/value_operations.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>
#include <boxcar/schema/value_type.h>

#include <optional>
#include <utility>

namespace boxcar::interp {
namespace {

// The kernel of an operator whose body is a function of [program].
struct ScriptKernel {
  std::shared_ptr<const Executable> program;
  uint32_t function;

  void operator()(const OperatorHandle& op, Stack& stack) const {
    const std::vector<Argument>& arguments = op.schema().arguments();
    for (size_t i = 0; i < arguments.size(); ++i) {
      const IValue& value = peek(stack, i, arguments.size());
      if (!matches(value, arguments[i].type())) [[unlikely]]
        failArgument(op, arguments[i], i, value);
    }
    // What runs keeps its code, also when the program goes meanwhile.
    const std::shared_ptr<const Executable> pinned = program;
    std::optional<FileAccessGuard> files;
    if (fileAccess().folder != pinned->folder()) files.emplace(FileAccess{.folder = pinned->folder()});
    Machine::current().call(*pinned, function, stack);
    spreadResults(op.schema(), stack);
  }

  [[noreturn, gnu::cold, gnu::noinline]] static void failArgument(const OperatorHandle& op, const Argument& argument,
                                                                  size_t position, const IValue& value) {
    BOXCAR_FAIL("{}(): argument '{}' (position {}) must be {}, not {}\n  {}", op, argument.name(), position + 1,
                *argument.type(), kindName(value), op.schema());
  }

  // A function gives one value: None where the operator has no result, a tuple where it has several.
  static void spreadResults(const FunctionSchema& schema, Stack& stack) {
    if (schema.returns().size() == 1) return;
    const IValue result = pop(stack);
    if (schema.returns().empty()) return;
    for (const IValue& element : result.toTuple().elements()) stack.push_back(element);
  }
};

}  // namespace

std::vector<RegistrationHandleRAII> registerOperators(const std::shared_ptr<Executable>& program) {
  std::vector<RegistrationHandleRAII> handles;
  const CodeUnit& unit = program->unit();
  for (const CodeOperator& op : unit.operators) {
    const RegistrationSite site =
        RegistrationSite::intern(unit.source->name(), unit.source->position(op.span.begin).line);
    handles.push_back(Dispatcher::singleton().registerDef(op.schema, site));
    if (!op.function) continue;
    handles.push_back(Dispatcher::singleton().registerImpl(
        op.schema.operator_name(), DispatchKey::CompositeImplicitAutograd,
        KernelFunction::makeFromBoxedFunctor(ScriptKernel{program, *op.function}), site));
  }
  return handles;
}

}  // namespace boxcar::interp
