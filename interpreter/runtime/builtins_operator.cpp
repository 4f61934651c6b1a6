// Operators as values: operator, call, call_at, redispatch, and the attributes of an operator's value.

#include <boxcar/interpreter/runtime/builtin_table.h>
#include <boxcar/interpreter/runtime/operator_value.h>
#include <boxcar/interpreter/runtime/script_handler.h>

#include <string>
#include <utility>

namespace boxcar::interp {
namespace {

bool isOperator(TypePtr type) { return type->kind() == TypeKind::Capsule || type->kind() == TypeKind::Any; }

// Returns null, which rejects the call, if the first argument is not an operator.
template <TypePtr (*result)() noexcept>
TypePtr ifOperator(std::span<const TypePtr> arguments) {
  return isOperator(arguments[0]) ? result() : nullptr;
}

TypePtr listOfAny() noexcept { return Type::listOf(Type::any()); }

OperatorHandle self(std::span<IValue> arguments, std::string_view attribute) {
  return toOperator(arguments[0], attribute);
}

IValue call(std::span<IValue> arguments) {
  const OperatorHandle op = toOperator(arguments[0], "call");
  Stack stack = argumentsFor(op, arguments[1], "call");
  op.callBoxed(stack);
  return listOf(std::move(stack));
}

IValue callAt(std::span<IValue> arguments) {
  const OperatorHandle op = toOperator(arguments[0], "call_at");
  Stack stack = argumentsFor(op, arguments[2], "call_at");
  op.callBoxedForDispatchKey(parseDispatchKey(arguments[1].toStringView()), stack);
  return listOf(std::move(stack));
}

IValue argumentNames(std::span<IValue> arguments) {
  const GenericList names;
  for (const Argument& argument : self(arguments, "arg_names").schema().arguments())
    names.push_back(IValue(argument.name()));
  return names;
}

IValue tags(std::span<IValue> arguments) {
  const GenericList names;
  for (const boxcar::Tag tag : self(arguments, "tags").getTags()) names.push_back(IValue(toString(tag)));
  return names;
}

}  // namespace

void addOperatorBuiltins(BuiltinTable& table) {
  addBuiltin(table, "operator(str name) -> Capsule", [](std::span<IValue> arguments) -> IValue {
    return operatorValue(operatorNamed(arguments[0].toStringView()));
  });
  addBuiltin(table, "call(Any op, Any[] args) -> Any[]", call, ifOperator<listOfAny>);
  addBuiltin(table, "call_at(Any op, str key, Any[] args) -> Any[]", callAt, ifOperator<listOfAny>);
  addBuiltin(
      table, "redispatch(Any op, Any[] args, bool nested=False) -> Any[]",
      [](std::span<IValue> arguments) -> IValue {
        return redispatch(toOperator(arguments[0], "redispatch"), arguments[1], arguments[2].toBool());
      },
      ifOperator<listOfAny>);

  addBuiltin(table, "operator.name(Any self) -> str",
             [](std::span<IValue> arguments) -> IValue { return self(arguments, "name").operator_name().name; });
  addBuiltin(table, "operator.overload(Any self) -> str", [](std::span<IValue> arguments) -> IValue {
    return self(arguments, "overload").operator_name().overload_name;
  });
  addBuiltin(table, "operator.schema(Any self) -> str",
             [](std::span<IValue> arguments) -> IValue { return toString(self(arguments, "schema").schema()); });
  addBuiltin(table, "operator.arg_names(Any self) -> str[]", argumentNames);
  addBuiltin(table, "operator.tags(Any self) -> str[]", tags);
  addBuiltin(table, "operator.has(Any self, str key) -> bool", [](std::span<IValue> arguments) -> IValue {
    return toOperator(arguments[0], "has").hasKernelForDispatchKey(parseDispatchKey(arguments[1].toStringView()));
  });
}

}  // namespace boxcar::interp
