#include <boxcar/dispatcher/call/default_device.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/runtime/dynamic_call.h>
#include <boxcar/interpreter/runtime/failed_call.h>
#include <boxcar/interpreter/runtime/overload.h>
#include <boxcar/interpreter/runtime/run_stop.h>
#include <boxcar/interpreter/runtime/script_error.h>
#include <boxcar/ivalue/error.h>

#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::interp {
namespace {

// Returns the one value that a script sees of an operator's results.
IValue packResults(Stack& stack, size_t base) {
  const size_t count = stack.size() - base;
  if (count == 0) return {};
  if (count == 1) return pop(stack);
  return Tuple(pop(stack, count));
}

// Adds the call that failed to its error, unless a script's error says more or the run was stopped.
void tellCall(Error& error, const OperatorHandle& op, const Stack& stack, size_t height) {
  if (dynamic_cast<const ScriptError*>(&error) != nullptr || dynamic_cast<const RunStop*>(&error) != nullptr) return;
  const std::string call = describeFailedCall(op, stack, height, error.what());
  if (!call.empty()) error.addContext("  " + call);
}

IValue callResolved(std::string_view name, std::span<const OperatorHandle> candidates, std::span<IValue> values,
                    std::span<const std::string_view> keywords, Stack& stack) {
  std::vector<const FunctionSchema*> schemas;
  schemas.reserve(candidates.size());
  for (const OperatorHandle& candidate : candidates) schemas.push_back(&candidate.schema());
  const ValueResolution resolution = resolveValues(name, schemas, values, keywords);
  std::vector<IValue> arguments = arrangeValues(*schemas[resolution.candidate], resolution.fit, values);
  takeDefaultDevice(*schemas[resolution.candidate], arguments);
  const size_t base = stack.size();
  stack.reserve(base + arguments.size());
  for (IValue& argument : arguments) stack.push_back(std::move(argument));
  const OperatorHandle& op = candidates[resolution.candidate];
  try {
    op.callBoxed(stack);
  } catch (Error& error) {
    tellCall(error, op, stack, base + arguments.size());
    throw;
  }
  BOXCAR_CHECK(stack.size() >= base, "{}: its kernel took more values from the stack than its arguments", op);
  return packResults(stack, base);
}

}  // namespace

void callDynamic(const LinkedDynamicSite& linked, Stack& stack) {
  const DynamicSite& site = *linked.site;
  std::vector<std::string_view> keywords(site.positional);
  keywords.insert(keywords.end(), site.keywords.begin(), site.keywords.end());
  std::vector<IValue> values = pop(stack, site.arguments());
  stack.push_back(callResolved(site.name, linked.candidates, values, keywords, stack));
}

IValue callFunction(const FunctionObject& function, std::span<IValue> values,
                    std::span<const std::string_view> keywords) {
  const FunctionSchema& schema = function.schema();
  if (schema.is_vararg()) {  // a callable of Python, which sees for itself what fits
    for (const std::string_view keyword : keywords) {
      BOXCAR_CHECK(keyword.empty(), "{} takes its arguments by position, not by name (`{}`)", function.text(), keyword);
    }
    Stack stack;
    for (IValue& value : values) stack.push_back(std::move(value));
    function.call(stack);
    return packResults(stack, 0);
  }
  const FunctionSchema* const candidates[] = {&schema};
  // A method is `Struct.method`; of an operator, the overload is not shown.
  const bool is_operator = schema.operator_name().getNamespace().has_value();
  const std::string name = is_operator ? schema.name() : toString(schema.operator_name());
  const ValueResolution resolution = resolveValues(name, candidates, values, keywords);
  Stack stack;
  for (IValue& argument : arrangeValues(schema, resolution.fit, values)) stack.push_back(std::move(argument));
  function.call(stack);
  return packResults(stack, 0);
}

IValue callOperator(const char* name, std::span<const IValue> arguments) {
  const std::vector<OperatorHandle> candidates = Dispatcher::singleton().findOverloads(name);
  BOXCAR_CHECK(!candidates.empty(), "the operator {} is not defined; is its library loaded?", name);
  const std::vector<std::string_view> keywords(arguments.size());
  std::vector<IValue> values(arguments.begin(), arguments.end());
  Stack stack;
  return callResolved(name, candidates, values, keywords, stack);
}

}  // namespace boxcar::interp
