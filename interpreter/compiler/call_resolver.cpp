#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/compiler/call_resolver.h>
#include <boxcar/interpreter/compiler/typed_builder.h>
#include <boxcar/interpreter/runtime/join_types.h>
#include <boxcar/interpreter/syntax/wording.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace boxcar::interp {

using typed::ExprPtr;

namespace {

// Whether only values determine how an argument is passed: whether one int, or an argument of a function, stands for a
// list, or a number for a Tensor because another argument is a Tensor.
bool dependsOnValues(const ParameterPlan& plan, std::span<const CallArgument> signature) {
  const TypePtr given = signature[plan.first].type;
  const TypePtr wanted = plan.target.type->isOptional() ? plan.target.type->element() : plan.target.type;
  const bool is_any = given->kind() == TypeKind::Any;
  if (is_any && (plan.target.list_size > 0 || wanted == Type::listOf(Type::any()))) return true;
  if (wanted->kind() != TypeKind::Tensor || !(is_any || conversionCost(given, {Type::scalar()}, {}))) return false;
  for (size_t i = 0; i < signature.size(); ++i) {
    if (i != plan.first && signature[i].type->kind() == TypeKind::Tensor) return false;
  }
  return true;
}

}  // namespace

ExprPtr CallResolver::callScriptFunction(const ScriptFunction& function, std::vector<TypedArgument> arguments,
                                         Span span) {
  if (hasPoison(arguments)) return typed::poison(span);
  const FunctionSchema* candidates[] = {&function.schema};
  const std::vector<CallArgument> signature = signatureOf(arguments);
  Resolution resolution = resolveOverload(candidates, signature, TypesFrom::kProgram);
  if (resolution.kind == Resolution::Kind::None) {
    reportRejections(context_, span, toString(function.schema.operator_name()), candidates, arguments,
                     resolution.rejections);
    return typed::poison(span);
  }
  const TypePtr type = scriptType(resultType(function.schema, resolution.fit));
  typed::Block before;
  auto arranged = converter_.arrange(function.schema, resolution.fit, std::move(arguments), before, span, false);
  ExprPtr call = typed::make(type, span,
                             typed::CallFunction{function.import.value_or(function.function), std::move(arranged),
                                                 function.import.has_value()});
  call->fields = context_.declarations.fieldNames(function.schema);
  return typed::withStatements(std::move(before), std::move(call));
}

ExprPtr CallResolver::makeStruct(const ScriptStruct& made, std::vector<TypedArgument> arguments, Span span) {
  if (hasPoison(arguments)) return typed::poison(span);
  const StructLayout& layout = *layoutOf(made.type);
  const std::vector<std::optional<IValue>>& defaults = context_.declarations.codeStructs()[made.index].defaults;
  const auto positional =
      static_cast<size_t>(std::ranges::count(arguments, std::string_view(), &TypedArgument::keyword));
  for (size_t i = positional; i < layout.fields.size(); ++i) {
    const std::string_view name = layout.fields[i].name;
    if (!defaults[i] || std::ranges::find(arguments, name, &TypedArgument::keyword) != arguments.end()) continue;
    arguments.push_back({typed::literal(*defaults[i], scriptType(layout.fields[i].type), span), name, span});
  }
  const FunctionSchema* candidates[] = {&made.constructor};
  const Resolution resolution = resolveOverload(candidates, signatureOf(arguments), TypesFrom::kProgram);
  if (resolution.kind == Resolution::Kind::None) {
    reportRejections(context_, span, made.name, candidates, arguments, resolution.rejections);
    return typed::poison(span);
  }
  typed::Block before;
  auto fields = converter_.arrange(made.constructor, resolution.fit, std::move(arguments), before, span, false);
  return typed::withStatements(std::move(before),
                               typed::make(made.type, span, typed::MakeStruct{made.index, std::move(fields)}));
}

ExprPtr CallResolver::callMember(std::string_view name, std::vector<TypedArgument> arguments, Span span) {
  std::vector<ExprPtr> values;
  values.push_back(typed::constant(std::string(name), Type::string(), span));
  std::vector<IValue> keywords;
  for (const TypedArgument& argument : arguments) keywords.emplace_back(argument.keyword);
  values.push_back(typed::constant(IValue(std::move(keywords)), Type::listOf(Type::string()), span));
  for (TypedArgument& argument : arguments) values.push_back(std::move(argument.value));
  return typed::make(Type::any(), span, typed::CallBuiltin{*findBuiltin("call_method"), std::move(values)});
}

ExprPtr CallResolver::callHeld(std::vector<TypedArgument> arguments, Span span) {
  if (hasPoison(arguments)) return typed::poison(span);
  std::vector<ExprPtr> values;
  values.push_back(std::move(arguments[0].value));
  if (values[0]->type->kind() == TypeKind::Any) {
    values[0] = typed::convertAtRunTime(std::move(values[0]), Type::function());
  }
  std::vector<IValue> keywords;
  for (size_t i = 1; i < arguments.size(); ++i) keywords.emplace_back(arguments[i].keyword);
  values.push_back(typed::constant(IValue(std::move(keywords)), Type::listOf(Type::string()), span));
  for (size_t i = 1; i < arguments.size(); ++i) values.push_back(std::move(arguments[i].value));
  return typed::make(Type::any(), span, typed::CallBuiltin{*findBuiltin("call_function"), std::move(values)});
}

ExprPtr CallResolver::callOverload(const OverloadSet& set, const syntax::Name& overload,
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

ExprPtr CallResolver::callOperators(const OverloadSet& set, std::vector<TypedArgument> arguments, Span span,
                                    Span name_span) {
  if (hasPoison(arguments)) return typed::poison(span);
  const std::vector<CallArgument> signature = signatureOf(arguments);
  Resolution resolution = resolveOverload(set.schemas, signature, TypesFrom::kProgram);
  if (resolution.kind == Resolution::Kind::None) {
    reportRejections(context_, name_span.empty() ? span : name_span, set.name, set.schemas, arguments,
                     resolution.rejections);
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
  auto arranged = converter_.arrange(schema, resolution.fit, std::move(arguments), before, span, shares_constants);
  ExprPtr call = typed::make(type, span,
                             typed::CallOperator{set.operators[resolution.candidate], std::move(arranged),
                                                 static_cast<uint16_t>(schema.returns().size())});
  call->fields = context_.declarations.fieldNames(schema);
  return typed::withStatements(std::move(before), std::move(call));
}

ExprPtr CallResolver::callDynamic(const OverloadSet& set, const Resolution& resolution,
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

ExprPtr CallResolver::callAten(std::string_view name, std::initializer_list<ExprPtr*> operands, Span span) {
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

}  // namespace boxcar::interp
