#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/compiler/builtin_names.h>
#include <boxcar/interpreter/compiler/call_checker.h>
#include <boxcar/interpreter/compiler/typed_builder.h>
#include <boxcar/interpreter/compiler/unknown_names.h>
#include <boxcar/interpreter/runtime/join_types.h>
#include <fmt/format.h>

#include <algorithm>

namespace boxcar::interp {

using boost::variant2::get_if;
using typed::ExprPtr;

namespace {

// Copies arguments whose values are kept in variables, for a branch that reads them, too.
std::vector<TypedArgument> copiesOf(const std::vector<TypedArgument>& arguments) {
  std::vector<TypedArgument> copies;
  for (const TypedArgument& each : arguments) copies.push_back({typed::copyOf(*each.value), each.keyword, each.span});
  return copies;
}

// Built-ins that call the operator of the same name if they get a Tensor.
bool isOperatorOnTensors(std::string_view name) {
  static constexpr std::string_view names[] = {"abs", "min", "max", "sum", "any", "all", "round"};
  return std::ranges::find(names, name) != std::end(names);
}

// Whether a call of a built-in means the operator of its name: if an argument is a Tensor, or if it is Any and only the
// operator takes such arguments. Otherwise the built-in calls the operator once it gets a Tensor.
bool isTensorOperator(std::string_view name, std::span<const TypedArgument> arguments) {
  if (arguments.empty()) return false;
  const TypeKind kind = arguments[0].value->type->kind();
  if (kind == TypeKind::Any) return !BuiltinResolver::takes(builtins()[*findBuiltin(name)], signatureOf(arguments));
  return kind == TypeKind::Tensor;
}

}  // namespace

std::vector<TypedArgument> CallChecker::inferArguments(const std::vector<syntax::Argument>& arguments) {
  std::vector<TypedArgument> typed_arguments;
  for (const syntax::Argument& argument : arguments) {
    typed_arguments.push_back({expressions_.infer(*argument.value), argument.keyword.text, argument.span});
  }
  return typed_arguments;
}

bool CallChecker::isHeld(std::string_view name, TypeKind kind) const {
  TypePtr type = nullptr;
  if (const auto variable = context_.findVariable(name)) {
    type = context_.environment.at(*variable).type;
  } else if (const ScriptConstant* constant = context_.declarations.findConstant(name)) {
    type = constant->type;
  }
  return type != nullptr && type->kind() == kind;
}

ExprPtr CallChecker::callValue(const syntax::Call& call, Span span) {
  std::vector<TypedArgument> arguments;
  arguments.push_back(
      {expressions_.infer(syntax::Expr{call.callee.span, 1, syntax::NameRef{call.callee}}), {}, call.callee.span});
  for (TypedArgument& argument : inferArguments(call.arguments)) arguments.push_back(std::move(argument));
  return resolver_.callHeld(std::move(arguments), span);
}

ExprPtr CallChecker::infer(const syntax::Call& call, Span span) {
  const syntax::QualifiedName& callee = call.callee;
  const std::string_view name = callee.name.text;
  if (callee.space) {
    if (callee.space.text == "math") {
      const std::string full = fmt::format("math::{}", name);
      if (findBuiltin(full)) return builtins_.callBuiltin(full, inferArguments(call.arguments), span);
    }
    const OverloadSet* set = context_.declarations.findOperators(callee, span.begin);
    std::vector<TypedArgument> arguments = inferArguments(call.arguments);
    if (set == nullptr) {
      reportUnknownFunction(context_, callee);
      return typed::poison(span);
    }
    if (callee.overload) return resolver_.callOverload(*set, callee.overload, std::move(arguments), span, callee.span);
    return resolver_.callOperators(*set, std::move(arguments), span, callee.span);
  }

  if (isHeld(name, TypeKind::Function)) return callValue(call, span);
  if (const ScriptFunction* function = context_.declarations.findFunction(name, span.begin)) {
    return resolver_.callScriptFunction(*function, inferArguments(call.arguments), span);
  }
  if (const ScriptStruct* made = context_.declarations.findStruct(name, span.begin)) {
    return resolver_.makeStruct(*made, inferArguments(call.arguments), span);
  }
  if (name == "isinstance") return conditions_.isInstance(call, span).value;
  std::vector<TypedArgument> arguments = inferArguments(call.arguments);
  if (isCallable(name) && !(isOperatorOnTensors(name) && isTensorOperator(name, arguments))) {
    return builtins_.callBuiltin(name, std::move(arguments), span);
  }
  if (const OverloadSet* set = context_.declarations.findOperators(callee, span.begin)) {
    return resolver_.callOperators(*set, std::move(arguments), span, callee.span);
  }
  if (isHeld(name, TypeKind::Any)) return callValue(call, span);
  reportUnknownFunction(context_, callee);
  return typed::poison(span);
}

ExprPtr CallChecker::infer(const syntax::MethodCall& call, Span span) {
  // `add.Tensor(x, y)`: an overload of an operator whose namespace is in use. A file imported under its name is nearer.
  const auto* ref = get_if<syntax::NameRef>(&call.object->node);
  if (ref != nullptr && !ref->name.space && !context_.findVariable(ref->name.name.text) &&
      context_.declarations.findConstant(ref->name.name.text) == nullptr &&
      context_.declarations.functionsOfAlias(ref->name.name.text, span.begin) == nullptr) {
    const OverloadSet* set = context_.declarations.findOperators(ref->name, span.begin);
    if (set != nullptr) {
      return resolver_.callOverload(*set, call.method, inferArguments(call.arguments), span,
                                    join(ref->name.span, call.method.span));
    }
  }

  if (const ScriptStruct* made = context_.findStructInAlias(*call.object, call.method)) {
    return resolver_.makeStruct(*made, inferArguments(call.arguments), span);
  }
  if (const auto function = context_.findInAlias(*call.object, call.method)) {
    std::vector<TypedArgument> given = inferArguments(call.arguments);
    if (*function == nullptr || hasPoison(given)) return typed::poison(span);
    return resolver_.callScriptFunction(**function, std::move(given), span);
  }

  std::vector<TypedArgument> arguments;
  ExprPtr object = expressions_.infer(*call.object);
  const TypePtr type = object->type;
  arguments.push_back({std::move(object), {}, call.object->span});
  for (TypedArgument& argument : inferArguments(call.arguments)) arguments.push_back(std::move(argument));
  if (hasPoison(arguments)) return typed::poison(span);

  if (layoutOf(type) != nullptr) {
    if (ExprPtr value = structMethod(call.method, arguments, span)) return value;
  }
  const bool may_be_member = type->kind() == TypeKind::Any && context_.declarations.isMember(call.method.text);
  if (!may_be_member) return callOn(type, call.method, std::move(arguments), span);
  if (!isKnownMethod(call.method.text, span.begin)) {
    return resolver_.callMember(call.method.text, std::move(arguments), span);
  }
  // The methods of structs take precedence.
  typed::Block before;
  for (TypedArgument& argument : arguments) argument.value = context_.keep(std::move(argument.value), before);
  const auto copy = [&arguments] { return copiesOf(arguments); };
  // If nothing else takes such arguments, only a struct can.
  Diagnostics found = std::exchange(context_.found, Diagnostics());
  ExprPtr otherwise = callOn(type, call.method, copy(), span);
  const bool is_other = context_.found.error_count() == 0;
  context_.found = std::move(found);
  if (!is_other) {
    return typed::withStatements(std::move(before), resolver_.callMember(call.method.text, copy(), span));
  }
  ExprPtr is_member = typed::hasMember(typed::copyOf(*arguments[0].value), call.method.text, span);
  ExprPtr value = resolver_.callMember(call.method.text, copy(), span);
  return typed::withStatements(
      std::move(before),
      typed::make(Type::any(), span, typed::Conditional{std::move(is_member), std::move(value), std::move(otherwise)}));
}

bool CallChecker::isKnownMethod(std::string_view name, uint32_t position) {
  if (context_.declarations.findFunction(name, position) != nullptr || isCallable(name) ||
      context_.declarations.findOperators(name, position) != nullptr) {
    return true;
  }
  return std::ranges::any_of(builtins(), [name](const Builtin& builtin) {
    const size_t dot = builtin.name().find('.');
    return dot != std::string_view::npos && builtin.name().substr(dot + 1) == name;
  });
}

ExprPtr CallChecker::structMethod(const syntax::Name& method, std::vector<TypedArgument>& arguments, Span span) {
  const TypePtr type = arguments[0].value->type;
  const ScriptStruct* const declared = context_.declarations.structOf(type);
  if (declared != nullptr) {
    if (const ScriptFunction* const found = declared->method(method.text)) {
      return resolver_.callScriptFunction(*found, std::move(arguments), span);
    }
  }
  if (const auto field = layoutOf(type)->indexOf(method.text)) {
    const TypePtr held = layoutOf(type)->fields[*field].type;
    if (held->kind() == TypeKind::Function || held->kind() == TypeKind::Any) {
      arguments[0].value = typed::field(std::move(arguments[0].value), *field, span);
      return resolver_.callHeld(std::move(arguments), span);
    }
  }
  // The methods of a struct that another file imports are found when the line runs.
  if (declared == nullptr && !isKnownMethod(method.text, span.begin)) {
    return resolver_.callMember(method.text, std::move(arguments), span);
  }
  return nullptr;
}

ExprPtr CallChecker::callOn(TypePtr type, const syntax::Name& called, std::vector<TypedArgument> arguments, Span span) {
  const std::string_view name = called.text;
  if (const ScriptFunction* function = context_.declarations.findFunction(name, span.begin)) {
    return resolver_.callScriptFunction(*function, std::move(arguments), span);
  }
  const OverloadSet* operators = context_.declarations.findOperators(name, span.begin);
  const std::string method = fmt::format("{}.{}", methodPrefix(type), name);
  if (type->kind() == TypeKind::Tensor) {
    // `x.size()` is a method, `x.size(0)` an operator.
    if (findBuiltin(method) && (arguments.size() == 1 || operators == nullptr) && !isTensorAttribute(name)) {
      return builtins_.callBuiltin(method, std::move(arguments), span);
    }
    if (operators != nullptr) return resolver_.callOperators(*operators, std::move(arguments), span, called.span);
  } else if (type->kind() == TypeKind::Any) {
    return anyMethod(called, operators, std::move(arguments), span);
  } else if (findBuiltin(method) && !(type->kind() == TypeKind::Function && isOperatorAttribute(name))) {
    return builtins_.callBuiltin(method, std::move(arguments), span);
  }
  if (isCallable(name)) return builtins_.callBuiltin(name, std::move(arguments), span);
  if (operators != nullptr) return resolver_.callOperators(*operators, std::move(arguments), span, called.span);
  reportUnknownMethod(context_, called, type);
  return typed::poison(span);
}

// A method call on a value whose kind is only known at run time.
ExprPtr CallChecker::anyMethod(const syntax::Name& method, const OverloadSet* operators,
                               std::vector<TypedArgument> arguments, Span span) {
  const TypePtr any = Type::any();
  const std::pair<std::string_view, TypePtr> kinds[] = {{"list", Type::listOf(any)},
                                                        {"dict", Type::dictOf(any, any)},
                                                        {"str", Type::string()},
                                                        {"operator", Type::function()},
                                                        {"tensor", Type::tensor()}};
  std::vector<std::pair<std::string, TypePtr>> methods;  // of the kinds whose method takes such arguments
  std::vector<std::string> known;
  std::vector<CallArgument> signature = signatureOf(arguments);
  for (const auto& [kind, type] : kinds) {
    std::string name = fmt::format("{}.{}", kind, method.text);
    const bool is_attribute = (kind == "tensor" && isTensorAttribute(method.text)) ||
                              (kind == "operator" && isOperatorAttribute(method.text));
    if (!findBuiltin(name) || is_attribute) continue;
    signature[0].type = type;
    if (BuiltinResolver::takes(builtins()[*findBuiltin(name)], signature)) methods.emplace_back(name, type);
    known.push_back(std::move(name));
  }
  if (!known.empty() && operators != nullptr) {
    signature[0].type = any;
    const Resolution resolution = resolveOverload(operators->schemas, signature, TypesFrom::kProgram);
    if (resolution.kind == Resolution::Kind::None) operators = nullptr;
  }
  const bool is_tensor_method = methods.size() == 1 && methods[0].second->kind() == TypeKind::Tensor;
  if (methods.empty() || (is_tensor_method && arguments.size() > 1)) {
    const bool is_operator =
        operators != nullptr && isOperatorOnTensors(method.text) && isTensorOperator(method.text, arguments);
    if (isCallable(method.text) && !is_operator) return builtins_.callBuiltin(method.text, std::move(arguments), span);
    if (operators != nullptr) return resolver_.callOperators(*operators, std::move(arguments), span, method.span);
    if (known.size() == 1) return builtins_.callBuiltin(known[0], std::move(arguments), span);  // reports what is wrong
    // It may be a struct's.
    if (known.empty()) return resolver_.callMember(method.text, std::move(arguments), span);
    Diagnostic& diagnostic = context_.error(span, fmt::format("no method `{}` takes such arguments", method.text));
    for (const std::string& name : known) {
      diagnostic.note(fmt::format("{}.{}", name.substr(0, name.find('.')), builtins()[*findBuiltin(name)].schema));
    }
    if (methods.empty()) return typed::poison(span);
  }
  if (methods.size() == 1 && (operators == nullptr || is_tensor_method)) {
    arguments[0].value = typed::convertAtRunTime(std::move(arguments[0].value), methods[0].second);
    return builtins_.callBuiltin(methods[0].first, std::move(arguments), span);
  }

  // A branch per kind calls its method; what the branches share is evaluated once, before them.
  typed::Block before;
  for (TypedArgument& argument : arguments) argument.value = context_.keep(std::move(argument.value), before);
  const auto copy = [&arguments] { return copiesOf(arguments); };
  ExprPtr result;
  if (operators != nullptr) {
    result = resolver_.callOperators(*operators, copy(), span, method.span);
  } else {
    std::vector<TypedArgument> last = copy();
    last[0].value = typed::convertAtRunTime(std::move(last[0].value), methods.back().second);
    result = builtins_.callBuiltin(methods.back().first, std::move(last), span);
    methods.pop_back();
  }
  for (auto found = methods.rbegin(); found != methods.rend(); ++found) {
    std::vector<TypedArgument> own = copy();
    ExprPtr is_kind =
        typed::operate(Opcode::TestType, Type::boolean(), span, typed::copyOf(*own[0].value), nullptr, found->second);
    own[0].value->type = found->second;
    ExprPtr value = builtins_.callBuiltin(found->first, std::move(own), span);
    const TypePtr type = joinTypes(value->type, result->type);
    result = typed::make(type, span, typed::Conditional{std::move(is_kind), std::move(value), std::move(result)});
  }
  return typed::withStatements(std::move(before), std::move(result));
}

}  // namespace boxcar::interp
