#include <boxcar/backends/autograd/function_call.h>
#include <boxcar/dispatcher/values/value_copy.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/schema/function_schema.h>

namespace boxcar::autograd {

IValue callFunction(std::string_view what, const FunctionObject& function, std::span<const IValue> args) {
  const FunctionSchema& schema = function.schema();
  const std::vector<Argument>& parameters = schema.arguments();
  BOXCAR_CHECK(args.size() <= parameters.size(), "{}: {} takes {} argument{}, not {}\n  {}", what, function.text(),
               parameters.size(), parameters.size() == 1 ? "" : "s", args.size(), schema);
  Stack stack;
  for (const IValue& arg : args) stack.push_back(arg);
  for (size_t i = args.size(); i < parameters.size(); ++i) {
    BOXCAR_CHECK(parameters[i].default_value().has_value(), "{}: argument '{}' of {} is missing\n  {}", what,
                 parameters[i].name(), function.text(), schema);
    // The function may change a list.
    stack.push_back(ValueCopier().copy(*parameters[i].default_value()));
  }
  function.call(stack);
  if (stack.empty()) return {};
  return stack.size() == 1 ? pop(stack) : IValue(Tuple(pop(stack, stack.size())));
}

std::vector<IValue> elementsOf(const IValue& list) {
  std::vector<IValue> elements;
  for (size_t i = 0; i < list.length(); ++i) elements.push_back(list.elementAt(i));
  return elements;
}

std::vector<Tensor> tensorsIn(std::span<const IValue> values) {
  std::vector<Tensor> tensors;
  for (const IValue& value : values) {
    mapTensors(value, [&](const Tensor& tensor) {
      tensors.push_back(tensor);
      return tensor;
    });
  }
  return tensors;
}

std::vector<IValue> withTensors(std::span<const IValue> values, std::span<const Tensor> tensors) {
  std::vector<IValue> replaced;
  size_t next = 0;
  for (const IValue& value : values) {
    replaced.push_back(mapTensors(value, [&](const Tensor&) { return tensors[next++]; }));
  }
  return replaced;
}

}  // namespace boxcar::autograd
