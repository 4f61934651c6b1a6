// Functions and operators as values: operator, call, call_at, redispatch, calls of what a variable holds, and
// attributes.

#include <boxcar/interpreter/runtime/builtin_table.h>
#include <boxcar/interpreter/runtime/dynamic_call.h>
#include <boxcar/interpreter/runtime/operator_value.h>
#include <boxcar/interpreter/runtime/script_handler.h>
#include <boxcar/interpreter/runtime/struct_object.h>

#include <string>
#include <utility>

namespace boxcar::interp {
namespace {

bool isFunction(TypePtr type) { return type->kind() == TypeKind::Function || type->kind() == TypeKind::Any; }

// Returns null, which rejects the call, if the first argument is not a function or an operator.
template <TypePtr (*result)() noexcept>
TypePtr ifFunction(std::span<const TypePtr> arguments) {
  return isFunction(arguments[0]) ? result() : nullptr;
}

TypePtr listOfAny() noexcept { return Type::listOf(Type::any()); }

const FunctionSchema& schemaOf(std::span<IValue> arguments, std::string_view attribute) {
  return toFunction(arguments[0], attribute).schema();
}

IValue call(std::span<IValue> arguments) {
  const FunctionObject& function = toFunction(arguments[0], "call");
  Stack stack = argumentsFor(function.schema(), arguments[1], "call");
  function.call(stack);
  return listOf(std::move(stack));
}

// `f(x, y, k=z)` of a variable f: the function, the keywords, then the arguments as written.
IValue callHeld(std::span<IValue> arguments) {
  std::vector<std::string_view> keywords;
  for (size_t i = 0; i < arguments[1].length(); ++i) {
    keywords.push_back(arguments[1].toList().object()->values[i].toStringView());
  }
  return callFunction(toFunction(arguments[0], "a call"), arguments.subspan(2), keywords);
}

// `x.f(y, k=z)` of a struct's value x: the method's name, the keywords, then x and the arguments as written.
IValue callMethod(std::span<IValue> arguments) {
  std::vector<std::string_view> keywords;
  for (size_t i = 0; i < arguments[1].length(); ++i) {
    keywords.push_back(arguments[1].toList().object()->values[i].toStringView());
  }
  return callMethodNamed(arguments[0].toStringView(), arguments.subspan(2), keywords);
}

IValue callAt(std::span<IValue> arguments) {
  const OperatorHandle op = toOperator(arguments[0], "call_at");
  Stack stack = argumentsFor(op.schema(), arguments[2], "call_at");
  const DispatchKey key = parseDispatchKey(arguments[1].toStringView());
  if (!isAliasDispatchKey(key)) {
    const DispatchKey functionality = toFunctionalityKey(key);
    checkRepresentation("call_at", op, stack,
                        DispatchKeySet(DispatchKeySet::FULL_AFTER, functionality).add(functionality));
  }
  op.callBoxedForDispatchKey(key, stack);
  return listOf(std::move(stack));
}

IValue argumentNames(std::span<IValue> arguments) {
  const GenericList names;
  for (const Argument& argument : schemaOf(arguments, "arg_names").arguments())
    names.push_back(IValue(argument.name()));
  return names;
}

IValue tags(std::span<IValue> arguments) {
  const GenericList names;
  for (const boxcar::Tag tag : toOperator(arguments[0], "tags").getTags()) names.push_back(IValue(toString(tag)));
  return names;
}

}  // namespace

void addOperatorBuiltins(BuiltinTable& table) {
  addBuiltin(table, "operator(str name) -> Function", [](std::span<IValue> arguments) -> IValue {
    return operatorValue(operatorNamed(arguments[0].toStringView()));
  });
  addVariadic(table, "call_function(Function function, str[] keywords, Any[] args) -> Any", 0, UINT16_MAX - 2,
              callHeld);
  table.back().is_hidden = true;
  addVariadic(table, "call_method(str name, str[] keywords, Any[] args) -> Any", 1, UINT16_MAX - 2, callMethod);
  table.back().is_hidden = true;
  addBuiltin(table, "get_field(Any value, str name) -> Any",
             [](std::span<IValue> arguments) { return fieldNamed(arguments[0], arguments[1].toStringView()); });
  table.back().is_hidden = true;
  addBuiltin(table, "set_field(Any value, str name, Any to) -> ()", [](std::span<IValue> arguments) -> IValue {
    setFieldNamed(arguments[0], arguments[1].toStringView(), arguments[2]);
    return {};
  });
  table.back().is_hidden = true;
  addBuiltin(table, "has_member(Any value, str name) -> bool", [](std::span<IValue> arguments) -> IValue {
    return hasMember(arguments[0], arguments[1].toStringView());
  });
  table.back().is_hidden = true;
  addBuiltin(table, "call(Any op, Any[] args) -> Any[]", call, ifFunction<listOfAny>);
  addBuiltin(table, "call_at(Any op, str key, Any[] args) -> Any[]", callAt, ifFunction<listOfAny>);
  addBuiltin(
      table, "redispatch(Any op, Any[] args, bool nested=False) -> Any[]",
      [](std::span<IValue> arguments) -> IValue {
        return redispatch(toOperator(arguments[0], "redispatch"), arguments[1], arguments[2].toBool());
      },
      ifFunction<listOfAny>);

  addBuiltin(table, "operator.name(Any self) -> str",
             [](std::span<IValue> arguments) -> IValue { return schemaOf(arguments, "name").name(); });
  addBuiltin(table, "operator.overload(Any self) -> str",
             [](std::span<IValue> arguments) -> IValue { return schemaOf(arguments, "overload").overload_name(); });
  addBuiltin(table, "operator.schema(Any self) -> str",
             [](std::span<IValue> arguments) -> IValue { return toString(schemaOf(arguments, "schema")); });
  addBuiltin(table, "operator.arg_names(Any self) -> str[]", argumentNames);
  addBuiltin(table, "operator.tags(Any self) -> str[]", tags);
  addBuiltin(table, "operator.has(Any self, str key) -> bool", [](std::span<IValue> arguments) -> IValue {
    return toOperator(arguments[0], "has").hasKernelForDispatchKey(parseDispatchKey(arguments[1].toStringView()));
  });
}

}  // namespace boxcar::interp
