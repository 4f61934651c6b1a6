#include <boxcar/dispatcher/call/default_device.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/runtime/container_operations.h>
#include <boxcar/interpreter/runtime/conversion.h>
#include <boxcar/interpreter/runtime/operator_value.h>
#include <boxcar/interpreter/runtime/value_operations.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/function_schema.h>

#include <mutex>
#include <unordered_map>
#include <utility>

namespace boxcar::interp {
namespace {

class OperatorObject final : public FunctionObject {
 public:
  explicit OperatorObject(const OperatorHandle& handle) : op(handle) {}
  const FunctionSchema& schema() const override { return op.schema(); }
  void call(Stack& stack) const override {
    takeDefaultDevice(op.schema(), std::span(stack).last(op.schema().arguments().size()));
    op.callBoxed(stack);
  }

  const OperatorHandle op;
};

}  // namespace

IValue operatorValue(const OperatorHandle& op) {
  static std::mutex mutex;
  static std::unordered_map<OperatorHandle, IValue>& values = *new std::unordered_map<OperatorHandle, IValue>;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = values.try_emplace(op);
  if (is_new) found->second = IValue(makeIntrusive<OperatorObject>(op));
  return found->second;
}

OperatorHandle toOperator(const IValue& value, std::string_view what) {
  const OperatorObject* object = nullptr;
  if (value.isObject()) object = dynamic_cast<const OperatorObject*>(value.toObject().get());
  BOXCAR_CHECK(object != nullptr,
               "{} takes an operator, such as `op` in a handler or what operator(\"aten::relu\") gives, not {}", what,
               kindName(value));
  return object->op;
}

OperatorHandle operatorNamed(std::string_view text) {
  const size_t colons = text.find("::");
  BOXCAR_CHECK(colons != std::string_view::npos,
               "operator() takes a name with its namespace, such as \"aten::{}\", not \"{}\"", text, text);
  const size_t point = text.find('.', colons);
  const std::string name(text.substr(0, point));
  const std::string overload(point == std::string_view::npos ? "" : text.substr(point + 1));
  Dispatcher& dispatcher = Dispatcher::singleton();
  if (const auto op = dispatcher.findSchema(OperatorName(name, overload))) return *op;
  if (overload == "default") {
    if (const auto op = dispatcher.findSchema(OperatorName(name, ""))) return *op;
  }
  const std::vector<OperatorHandle> overloads = dispatcher.findOverloads(name);
  if (overload.empty() && overloads.size() == 1) return overloads[0];
  if (overloads.empty()) return dispatcher.findSchemaOrThrow(name.c_str(), overload.c_str());
  std::string names;
  for (const OperatorHandle& op : overloads) names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", op);
  BOXCAR_FAIL("there is no operator \"{}\"; the overloads of {} are {}", text, name, names);
}

const FunctionObject& toFunction(const IValue& value, std::string_view what) {
  const FunctionObject* const function = functionIn(value);
  BOXCAR_CHECK(function != nullptr, "{} takes a function or an operator, not {}", what, kindName(value));
  return *function;
}

Stack argumentsFor(const FunctionSchema& schema, const IValue& arguments, std::string_view what) {
  const OperatorName& op = schema.operator_name();
  const size_t given = arguments.length();
  const size_t count = schema.arguments().size();
  BOXCAR_CHECK(given <= count || schema.is_vararg(), "{}: {} takes {} argument{}, not {}\n  {}", what, op, count,
               count == 1 ? "" : "s", given, schema);
  Stack stack;
  stack.reserve(std::max(given, count));
  for (size_t i = 0; i < std::max(given, count); ++i) {
    if (i >= count) {
      stack.push_back(arguments.elementAt(i));
      continue;
    }
    const Argument& argument = schema.arguments()[i];
    if (i >= given) {
      BOXCAR_CHECK(argument.default_value().has_value(), "{}: argument '{}' of {} is missing\n  {}", what,
                   argument.name(), op, schema);
      const IValue& initial = *argument.default_value();
      stack.push_back(initial.isList() ? copyOfList(initial) : initial);
      continue;
    }
    IValue value = arguments.elementAt(i);
    try {
      ConversionTarget target = targetOf(argument);
      for (size_t k = 0; k < given; ++k) target.beside_tensor |= k != i && arguments.elementAt(k).isTensor();
      stack.push_back(convertValue(value, target));
    } catch (const Error&) {
      BOXCAR_FAIL("{}: argument '{}' of {} must be {}, not {}\n  {}", what, argument.name(), op, *argument.type(),
                  kindName(value), schema);
    }
  }
  return stack;
}

IValue listOf(Stack stack) {
  std::vector<IValue> values(std::make_move_iterator(stack.begin()), std::make_move_iterator(stack.end()));
  return GenericList(makeIntrusive<GenericListObject>(std::move(values)));
}

}  // namespace boxcar::interp
