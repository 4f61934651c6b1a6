#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/compiler/builtin_names.h>
#include <boxcar/interpreter/compiler/inference.h>
#include <boxcar/interpreter/compiler/typed_builder.h>
#include <boxcar/interpreter/compiler/unknown_names.h>
#include <boxcar/interpreter/runtime/join_types.h>
#include <boxcar/interpreter/syntax/wording.h>
#include <boxcar/schema/value_type.h>
#include <fmt/format.h>

#include <algorithm>

// Resolves calls, and brings their arguments into the order and the types of the callee.

namespace boxcar::interp {

using boost::variant2::get_if;
using typed::ExprPtr;

namespace {

// Built-ins that call the operator of the same name if they get a Tensor.
bool isOperatorOnTensors(std::string_view name) {
  static constexpr std::string_view names[] = {"abs", "min", "max", "sum", "any", "all", "round"};
  return std::ranges::find(names, name) != std::end(names);
}

std::vector<CallArgument> signatureOf(std::span<const TypedArgument> arguments) {
  std::vector<CallArgument> signature;
  for (const TypedArgument& argument : arguments) signature.push_back({argument.value->type, argument.keyword});
  return signature;
}

// Whether only values determine how an argument is passed: whether one int stands for a list, or a number for a Tensor
// because another argument is a Tensor.
bool dependsOnValues(const ParameterPlan& plan, std::span<const CallArgument> signature) {
  const TypePtr given = signature[plan.first].type;
  const TypePtr wanted = plan.target.type->isOptional() ? plan.target.type->element() : plan.target.type;
  const bool is_any = given->kind() == TypeKind::Any;
  if (is_any && plan.target.list_size > 0) return true;
  if (wanted->kind() != TypeKind::Tensor || !(is_any || conversionCost(given, {Type::scalar()}, {}))) return false;
  for (size_t i = 0; i < signature.size(); ++i) {
    if (i != plan.first && signature[i].type->kind() == TypeKind::Tensor) return false;
  }
  return true;
}

bool hasPoison(std::span<const TypedArgument> arguments) {
  return std::ranges::any_of(arguments, [](const TypedArgument& a) { return typed::isPoison(*a.value); });
}

// Returns the value of a list literal of constants.
std::optional<IValue> constantList(const typed::Expr& expr) {
  const auto* list = get_if<typed::MakeList>(&expr.node);
  if (list == nullptr) return std::nullopt;
  std::vector<IValue> items;
  for (const ExprPtr& item : list->items) {
    const auto* constant = get_if<typed::Constant>(&item->node);
    if (constant == nullptr) return std::nullopt;
    items.push_back(constant->value);
  }
  return convertValue(IValue(std::move(items)), {expr.type});
}

}  // namespace

// Whether a call of a built-in means the operator of its name: if an argument is a Tensor, or if it is Any and only the
// operator takes such arguments. Otherwise the built-in calls the operator once it gets a Tensor.
bool Inference::isTensorOperator(std::string_view name, std::span<const TypedArgument> arguments) {
  if (arguments.empty()) return false;
  const TypeKind kind = arguments[0].value->type->kind();
  if (kind == TypeKind::Any) return !takes(builtins()[*findBuiltin(name)], signatureOf(arguments));
  return kind == TypeKind::Tensor;
}

std::vector<TypedArgument> Inference::inferArguments(const std::vector<syntax::Argument>& arguments) {
  std::vector<TypedArgument> typed_arguments;
  for (const syntax::Argument& argument : arguments) {
    typed_arguments.push_back({infer(*argument.value), argument.keyword.text, argument.span});
  }
  return typed_arguments;
}

ExprPtr Inference::infer(const syntax::Call& call, Span span) {
  const syntax::QualifiedName& callee = call.callee;
  const std::string_view name = callee.name.text;
  if (callee.space) {
    if (callee.space.text == "math") {
      const std::string full = fmt::format("math::{}", name);
      if (findBuiltin(full)) return callBuiltin(full, inferArguments(call.arguments), span);
    }
    const OverloadSet* set = context_.declarations.findOperators(callee, span.begin);
    std::vector<TypedArgument> arguments = inferArguments(call.arguments);
    if (set == nullptr) {
      reportUnknownFunction(context_, callee);
      return typed::poison(span);
    }
    if (callee.overload) return callOverload(*set, callee.overload, std::move(arguments), span, callee.span);
    return callOperators(*set, std::move(arguments), span, callee.span);
  }

  if (const ScriptFunction* function = context_.declarations.findFunction(name, span.begin)) {
    return callScriptFunction(*function, inferArguments(call.arguments), span);
  }
  if (name == "isinstance") return isInstance(call, span).value;
  std::vector<TypedArgument> arguments = inferArguments(call.arguments);
  if (isCallable(name) && !(isOperatorOnTensors(name) && isTensorOperator(name, arguments))) {
    return callBuiltin(name, std::move(arguments), span);
  }
  if (const OverloadSet* set = context_.declarations.findOperators(callee, span.begin)) {
    return callOperators(*set, std::move(arguments), span, callee.span);
  }
  reportUnknownFunction(context_, callee);
  return typed::poison(span);
}

ExprPtr Inference::infer(const syntax::MethodCall& call, Span span) {
  // `add.Tensor(x, y)`: an overload of an operator whose namespace is in use.
  const auto* ref = get_if<syntax::NameRef>(&call.object->node);
  if (ref != nullptr && !ref->name.space && !context_.findVariable(ref->name.name.text) &&
      context_.declarations.findConstant(ref->name.name.text) == nullptr) {
    const OverloadSet* set = context_.declarations.findOperators(ref->name, span.begin);
    if (set != nullptr) {
      return callOverload(*set, call.method, inferArguments(call.arguments), span,
                          join(ref->name.span, call.method.span));
    }
  }

  std::vector<TypedArgument> arguments;
  ExprPtr object = infer(*call.object);
  const TypePtr type = object->type;
  arguments.push_back({std::move(object), {}, call.object->span});
  for (TypedArgument& argument : inferArguments(call.arguments)) arguments.push_back(std::move(argument));
  if (hasPoison(arguments)) return typed::poison(span);

  const std::string_view name = call.method.text;
  if (const ScriptFunction* function = context_.declarations.findFunction(name, span.begin)) {
    return callScriptFunction(*function, std::move(arguments), span);
  }
  const OverloadSet* operators = context_.declarations.findOperators(name, span.begin);
  const std::string method = fmt::format("{}.{}", methodPrefix(type), name);
  if (type->kind() == TypeKind::Tensor) {
    // `x.size()` is a method, `x.size(0)` an operator.
    if (findBuiltin(method) && (arguments.size() == 1 || operators == nullptr) && !isTensorAttribute(name)) {
      return callBuiltin(method, std::move(arguments), span);
    }
    if (operators != nullptr) return callOperators(*operators, std::move(arguments), span, call.method.span);
  } else if (type->kind() == TypeKind::Any) {
    return anyMethod(call.method, operators, std::move(arguments), span);
  } else if (findBuiltin(method) && !(type->kind() == TypeKind::Capsule && isOperatorAttribute(name))) {
    return callBuiltin(method, std::move(arguments), span);
  }
  if (isCallable(name)) return callBuiltin(name, std::move(arguments), span);
  if (operators != nullptr) return callOperators(*operators, std::move(arguments), span, call.method.span);
  reportUnknownMethod(context_, call.method, type);
  return typed::poison(span);
}

// A method call on a value whose kind is only known at run time.
ExprPtr Inference::anyMethod(const syntax::Name& method, const OverloadSet* operators,
                             std::vector<TypedArgument> arguments, Span span) {
  const TypePtr any = Type::any();
  const std::pair<std::string_view, TypePtr> kinds[] = {{"list", Type::listOf(any)},
                                                        {"dict", Type::dictOf(any, any)},
                                                        {"str", Type::string()},
                                                        {"operator", Type::capsule()},
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
    if (takes(builtins()[*findBuiltin(name)], signature)) methods.emplace_back(name, type);
    known.push_back(std::move(name));
  }
  if (!known.empty() && operators != nullptr) {
    signature[0].type = any;
    const Resolution resolution = resolveOverload(operators->schemas, signature, false);
    if (resolution.kind == Resolution::Kind::None) operators = nullptr;
  }
  const bool is_tensor_method = methods.size() == 1 && methods[0].second->kind() == TypeKind::Tensor;
  if (methods.empty() || (is_tensor_method && arguments.size() > 1)) {
    const bool is_operator =
        operators != nullptr && isOperatorOnTensors(method.text) && isTensorOperator(method.text, arguments);
    if (isCallable(method.text) && !is_operator) return callBuiltin(method.text, std::move(arguments), span);
    if (operators != nullptr) return callOperators(*operators, std::move(arguments), span, method.span);
    if (known.size() == 1) return callBuiltin(known[0], std::move(arguments), span);  // reports what is wrong
    if (known.empty()) {
      reportUnknownMethod(context_, method, any);
    } else {
      Diagnostic& diagnostic = context_.error(span, fmt::format("no method `{}` takes such arguments", method.text));
      for (const std::string& name : known) {
        diagnostic.note(fmt::format("{}.{}", name.substr(0, name.find('.')), builtins()[*findBuiltin(name)].schema));
      }
    }
    if (methods.empty()) return typed::poison(span);
  }
  if (methods.size() == 1 && (operators == nullptr || is_tensor_method)) {
    arguments[0].value = typed::convertAtRunTime(std::move(arguments[0].value), methods[0].second);
    return callBuiltin(methods[0].first, std::move(arguments), span);
  }

  // A branch per kind calls its method; what the branches share is evaluated once, before them.
  typed::Block before;
  for (TypedArgument& argument : arguments) argument.value = context_.keep(std::move(argument.value), before);
  const auto copy = [&arguments] {
    std::vector<TypedArgument> copies;
    for (const TypedArgument& a : arguments) copies.push_back({typed::copyOf(*a.value), a.keyword, a.span});
    return copies;
  };
  ExprPtr result;
  if (operators != nullptr) {
    result = callOperators(*operators, copy(), span, method.span);
  } else {
    std::vector<TypedArgument> last = copy();
    last[0].value = typed::convertAtRunTime(std::move(last[0].value), methods.back().second);
    result = callBuiltin(methods.back().first, std::move(last), span);
    methods.pop_back();
  }
  for (auto found = methods.rbegin(); found != methods.rend(); ++found) {
    std::vector<TypedArgument> own = copy();
    ExprPtr is_kind =
        typed::operate(Opcode::TestType, Type::boolean(), span, typed::copyOf(*own[0].value), nullptr, found->second);
    own[0].value->type = found->second;
    ExprPtr value = callBuiltin(found->first, std::move(own), span);
    const TypePtr type = joinTypes(value->type, result->type);
    result = typed::make(type, span, typed::Conditional{std::move(is_kind), std::move(value), std::move(result)});
  }
  return typed::withStatements(std::move(before), std::move(result));
}

ExprPtr Inference::callScriptFunction(const ScriptFunction& function, std::vector<TypedArgument> arguments, Span span) {
  if (hasPoison(arguments)) return typed::poison(span);
  const FunctionSchema* candidates[] = {&function.schema};
  const std::vector<CallArgument> signature = signatureOf(arguments);
  Resolution resolution = resolveOverload(candidates, signature, false);
  if (resolution.kind == Resolution::Kind::None) {
    reportRejections(span, function.schema.name(), candidates, arguments, resolution.rejections);
    return typed::poison(span);
  }
  const TypePtr type = scriptType(resultType(function.schema, resolution.fit));
  typed::Block before;
  auto arranged = arrange(function.schema, resolution.fit, std::move(arguments), before, span, false);
  ExprPtr call = typed::make(type, span,
                             typed::CallFunction{function.import.value_or(function.function), std::move(arranged),
                                                 function.import.has_value()});
  call->fields = context_.declarations.fieldNames(function.schema);
  return typed::withStatements(std::move(before), std::move(call));
}

ExprPtr Inference::callOverload(const OverloadSet& set, const syntax::Name& overload,
                                std::vector<TypedArgument> arguments, Span span, Span name_span) {
  if (const auto found = findOverload(set.operators, overload.text)) {
    const OverloadSet one{set.name, {set.operators[*found]}, {set.schemas[*found]}};
    return callOperators(one, std::move(arguments), span, name_span);
  }
  std::vector<std::string_view> names;
  for (const OperatorName& name : set.operators) names.push_back(name.overload_name);
  Diagnostic& diagnostic = context_.error(
      overload.span,
      withSuggestion(fmt::format("{} has no overload `{}`", set.name, overload.text), overload.text, names));
  for (const FunctionSchema* schema : set.schemas) diagnostic.note(toString(*schema));
  return typed::poison(span);
}

ExprPtr Inference::callOperators(const OverloadSet& set, std::vector<TypedArgument> arguments, Span span,
                                 Span name_span) {
  if (hasPoison(arguments)) return typed::poison(span);
  const std::vector<CallArgument> signature = signatureOf(arguments);
  Resolution resolution = resolveOverload(set.schemas, signature, false);
  if (resolution.kind == Resolution::Kind::None) {
    reportRejections(name_span.empty() ? span : name_span, set.name, set.schemas, arguments, resolution.rejections);
    return typed::poison(span);
  }
  bool is_dynamic = resolution.kind == Resolution::Kind::Dynamic;
  if (!is_dynamic) {
    for (const ParameterPlan& plan : resolution.fit.parameters) {
      if (plan.from == ParameterPlan::From::Argument) is_dynamic = is_dynamic || dependsOnValues(plan, signature);
    }
    if (is_dynamic) resolution.viable = {resolution.candidate};
  }
  if (context_.findings != nullptr && !is_dynamic) {
    context_.findings->calls.push_back({name_span, set.schemas[resolution.candidate]});
  }
  if (is_dynamic) return callDynamic(set, resolution, std::move(arguments), span);

  const FunctionSchema& schema = *set.schemas[resolution.candidate];
  const TypePtr type = scriptType(resultType(schema, resolution.fit));
  typed::Block before;
  const bool shares_constants = !context_.declarations.mayBeScript(set.operators[resolution.candidate]);
  auto arranged = arrange(schema, resolution.fit, std::move(arguments), before, span, shares_constants);
  ExprPtr call = typed::make(type, span,
                             typed::CallOperator{set.operators[resolution.candidate], std::move(arranged),
                                                 static_cast<uint16_t>(schema.returns().size())});
  call->fields = context_.declarations.fieldNames(schema);
  return typed::withStatements(std::move(before), std::move(call));
}

ExprPtr Inference::callDynamic(const OverloadSet& set, const Resolution& resolution,
                               std::vector<TypedArgument> arguments, Span span) {
  typed::CallDynamic call;
  call.name = set.name;
  if (resolution.viable.size() == 1) call.overload = set.operators[resolution.viable[0]].overload_name;
  TypePtr type = nullptr;
  for (const size_t viable : resolution.viable) {
    const TypePtr result = scriptType(resultType(*set.schemas[viable], {}));
    type = type == nullptr ? result : joinTypes(type, result);
  }
  for (TypedArgument& argument : arguments) {
    if (!argument.keyword.empty()) call.keywords.emplace_back(argument.keyword);
    call.arguments.push_back(std::move(argument.value));
  }
  return typed::make(type, span, std::move(call));
}

ExprPtr Inference::callAten(std::string_view name, std::initializer_list<ExprPtr*> operands, Span span) {
  const OverloadSet* set = context_.declarations.findQualified(fmt::format("aten::{}", name));
  if (set == nullptr) {
    context_.error(span, fmt::format("this needs the operator aten::{}, which is not defined", name));
    return typed::poison(span);
  }
  std::vector<TypedArgument> arguments;
  for (ExprPtr* operand : operands) {
    const Span operand_span = (*operand)->span;
    arguments.push_back({std::move(*operand), {}, operand_span});
  }
  return callOperators(*set, std::move(arguments), span, span);
}

std::vector<ExprPtr> Inference::arrange(const FunctionSchema& schema, const Fit& fit,
                                        std::vector<TypedArgument> arguments, typed::Block& before, Span span,
                                        bool shares_constants) {
  // Arguments are evaluated in the order in which they are written.
  size_t furthest = 0;
  bool in_order = true;
  for (const ParameterPlan& plan : fit.parameters) {
    if (plan.from == ParameterPlan::From::Default || typed::isSimple(*arguments[plan.first].value)) continue;
    in_order = in_order && plan.first >= furthest;
    furthest = plan.first;
  }
  if (!in_order) {
    for (TypedArgument& argument : arguments) argument.value = context_.keep(std::move(argument.value), before);
  }

  std::vector<ExprPtr> arranged;
  for (size_t i = 0; i < fit.parameters.size(); ++i) {
    const ParameterPlan& plan = fit.parameters[i];
    const Argument& parameter = schema.arguments()[i];
    ExprPtr value;
    switch (plan.from) {
      case ParameterPlan::From::Default: {
        const IValue& initial = *parameter.default_value();
        if (initial.isList() && !shares_constants) {
          std::vector<ExprPtr> items;
          for (size_t k = 0; k < initial.length(); ++k) {
            const IValue item = initial.elementAt(k);
            items.push_back(typed::constant(item, typeOf(item), span));
          }
          value = typed::make(scriptType(parameter.type()), span, typed::MakeList{std::move(items)});
        } else {
          value = typed::constant(initial, initial.isNone() ? Type::none() : scriptType(parameter.type()), span);
        }
        break;
      }
      case ParameterPlan::From::Argument: value = convert(std::move(arguments[plan.first].value), plan.target); break;
      case ParameterPlan::From::Rest: {
        std::vector<ExprPtr> items;
        Span items_span = arguments[plan.first].span;
        for (uint32_t k = plan.first; k < plan.first + plan.count; ++k) {
          items_span = join(items_span, arguments[k].span);
          items.push_back(convert(std::move(arguments[k].value), {Type::integer()}));
        }
        value = typed::make(scriptType(plan.target.type), items_span, typed::MakeList{std::move(items)});
        break;
      }
    }
    if (shares_constants && !parameter.is_write()) {
      if (auto list = constantList(*value)) value = typed::constant(*std::move(list), value->type, value->span);
    }
    arranged.push_back(std::move(value));
  }
  return arranged;
}

// ---- What is wrong ----

void Inference::reportRejections(Span span, std::string_view name, std::span<const FunctionSchema* const> candidates,
                                 std::span<const TypedArgument> arguments, std::span<const Rejection> rejections) {
  if (haveSameReason(rejections) && rejections[0].argument) span = arguments[*rejections[0].argument].span;
  Diagnostic& diagnostic = context_.error(span, rejectionHeadline(name, signatureOf(arguments), rejections));
  for (std::string& line : rejectionLines(candidates, rejections)) diagnostic.note(std::move(line));
}

}  // namespace boxcar::interp
