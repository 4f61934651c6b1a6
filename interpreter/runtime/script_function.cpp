#include <boxcar/interpreter/bytecode/struct_layout.h>
#include <boxcar/interpreter/runtime/conversion.h>
#include <boxcar/interpreter/runtime/machine.h>
#include <boxcar/interpreter/runtime/script_function.h>
#include <boxcar/interpreter/runtime/script_operator.h>
#include <boxcar/interpreter/runtime/value_operations.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/function_object.h>
#include <boxcar/schema/value_type.h>

#include <memory>
#include <mutex>
#include <string>

namespace boxcar::interp {
namespace {

class ScriptFunctionObject final : public FunctionObject {
 public:
  ScriptFunctionObject(const Executable& program, size_t index)
      : program_(program.weak_from_this()),
        schema_(program.unit().exports[index].schema),
        index_(index),
        script_(program.unit().source->name()) {}

  const FunctionSchema& schema() const override { return schema_; }
  void call(Stack& stack) const override {
    const std::shared_ptr<const Executable> program = program_.lock();
    BOXCAR_CHECK(program != nullptr, "{} is a function of {}, which is no longer loaded", schema_.operator_name(),
                 script_);
    callExported(*program, program->unit().exports[index_], stack);
  }

 private:
  const std::weak_ptr<const Executable> program_;
  const FunctionSchema schema_;
  const size_t index_;
  const std::string script_;
};

}  // namespace

void callExported(const Executable& program, const CodeExport& exported, Stack& stack) {
  const FunctionSchema& schema = exported.schema;
  const size_t count = schema.arguments().size();
  BOXCAR_CHECK(stack.size() >= count, "{} takes {} argument{}, but the stack has {} value{}\n  {}",
               schema.operator_name(), count, count == 1 ? "" : "s", stack.size(), stack.size() == 1 ? "" : "s",
               schema);
  for (size_t i = 0; i < count; ++i) {
    const Argument& argument = schema.arguments()[i];
    IValue& value = peek(stack, i, count);
    try {
      value = convertValue(value, targetOf(argument));
    } catch (const Error&) {
      BOXCAR_FAIL("{}: argument '{}' must be {}, not {}{}\n  {}", schema.operator_name(), argument.name(),
                  *argument.type(), kindName(value), namesakeNote(argument.type(), typeOf(value)), schema);
    }
  }
  Machine::current().run(program, exported.function, stack, program.limits());
  spreadOperatorResults(schema, stack);
}

IValue functionValue(const ExecutableFunction& function) {
  const Executable& program = *function.program;
  const std::vector<CodeExport>& exports = program.unit().exports;
  size_t index = 0;
  // The verifier made sure that it is exported.
  while (program.unit().functions.data() + exports[index].function != function.source) ++index;
  const std::lock_guard lock(program.functionValuesMutex());
  std::vector<IValue>& values = program.functionValues();
  if (values.empty()) values.resize(exports.size());
  if (values[index].isNone()) values[index] = IValue(makeIntrusive<ScriptFunctionObject>(program, index));
  return values[index];
}

}  // namespace boxcar::interp
