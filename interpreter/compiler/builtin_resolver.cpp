#include <boxcar/interpreter/bytecode/builtins.h>
#include <boxcar/interpreter/compiler/builtin_resolver.h>
#include <boxcar/interpreter/compiler/typed_builder.h>
#include <boxcar/interpreter/syntax/wording.h>
#include <boxcar/ivalue/alternatives.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::interp {

using typed::ExprPtr;

namespace {

// Returns "it takes a str, a list or a dict", from the types that [rule] accepts for the first argument beside the
// others in [types]. Empty if it accepts none of them.
std::string acceptedTypes(Builtin::ResultRule rule, std::vector<TypePtr> types) {
  if (types.empty()) return {};
  const std::pair<std::string_view, TypePtr> samples[] = {
      {"a number", Type::floating()},
      {"a str", Type::string()},
      {"a Tensor", Type::tensor()},
      {"a list", Type::listOf(Type::integer())},
      {"a tuple", Type::tupleOf(std::array{Type::integer()})},
      {"a dict", Type::dictOf(Type::string(), Type::integer())},
  };
  std::vector<std::string_view> names;
  for (const auto& [name, type] : samples) {
    types[0] = type;
    if (rule(types) != nullptr) names.push_back(name);
  }
  return names.empty() ? std::string() : "it takes " + alternatives(names);
}

}  // namespace

bool BuiltinResolver::takes(const Builtin& builtin, std::span<const CallArgument> arguments) {
  const std::vector<Argument>& parameters = builtin.schema.arguments();
  if (!builtin.variadic) {
    const FunctionSchema* candidates[] = {&builtin.schema};
    return resolveOverload(candidates, arguments, TypesFrom::kProgram).kind != Resolution::Kind::None;
  }
  size_t fixed = 0;
  while (fixed + 1 < parameters.size() && !parameters[fixed + 1].kwarg_only()) ++fixed;
  size_t positional = 0;
  while (positional < arguments.size() && arguments[positional].keyword.empty()) ++positional;
  if (positional < fixed + builtin.min_variadic || positional > fixed + size_t{builtin.max_variadic}) return false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    TypePtr wanted = nullptr;
    if (i < positional) {
      wanted = i < fixed ? substituteVariables(parameters[i].type(), {}) : parameters[fixed].type()->element();
    } else if (const auto index = builtin.schema.argumentIndexWithName(arguments[i].keyword)) {
      wanted = parameters[static_cast<size_t>(*index)].type();
    }
    if (wanted == nullptr || !conversionCost(arguments[i].type, {wanted}, {})) return false;
  }
  return true;
}

ExprPtr BuiltinResolver::inlineBuiltin(std::string_view name, std::vector<TypedArgument>& arguments, Span span) {
  if (arguments.size() != 1 || !arguments[0].keyword.empty()) return nullptr;
  ExprPtr& value = arguments[0].value;
  const TypeKind kind = value->type->kind();
  const bool is_number = kind == TypeKind::Int || kind == TypeKind::Bool || kind == TypeKind::Float;
  if (name == "len") {
    const bool has_length =
        kind == TypeKind::List || kind == TypeKind::Dict || kind == TypeKind::String || kind == TypeKind::Tuple;
    return has_length ? typed::operate(Opcode::Length, Type::integer(), span, std::move(value)) : nullptr;
  }
  if (name == "int" && kind == TypeKind::Float) {
    return typed::operate(Opcode::FloatToInt, Type::integer(), span, std::move(value));
  }
  if (name == "int" && is_number) return converter_.convert(std::move(value), {Type::integer()});
  if (name == "float" && is_number) return converter_.convert(std::move(value), {Type::floating()});
  if (name == "bool") return typed::truth(std::move(value));
  return nullptr;
}

ExprPtr BuiltinResolver::callBuiltin(std::string_view name, std::vector<TypedArgument> arguments, Span span) {
  if (hasPoison(arguments)) return typed::poison(span);
  if (name == "redispatch" && (context_.function == nullptr || (context_.function->kind != BodyKind::Handler &&
                                                                context_.function->kind != BodyKind::Impl))) {
    context_.error(span, "`redispatch` is only allowed in the bodies of `impl`, `fallback` and `mode`");
    return typed::poison(span);
  }
  if (ExprPtr inlined = inlineBuiltin(name, arguments, span)) return inlined;

  const uint16_t index = *findBuiltin(name);
  const Builtin& builtin = builtins()[index];
  if (name == "print" || name == "str") {
    for (TypedArgument& argument : arguments) argument.value = typed::shown(std::move(argument.value));
  }
  if (builtin.is_hidden && name.starts_with("with.")) name.remove_prefix(5);
  std::string given;
  for (const TypedArgument& argument : arguments) {
    if (!given.empty()) given += ", ";
    if (!argument.keyword.empty()) given += fmt::format("{}=", argument.keyword);
    given += argument.value->type->text();
  }
  std::vector<TypePtr> types;
  TypePtr declared_result = nullptr;
  typed::Block before;
  std::vector<ExprPtr> values;
  if (builtin.variadic) {
    auto placed = variadicArguments(builtin, std::move(arguments), span);
    if (!placed) return typed::poison(span);
    values = *std::move(placed);
    declared_result = scriptType(resultType(builtin.schema, {}));
  } else {
    const FunctionSchema* candidates[] = {&builtin.schema};
    const std::vector<CallArgument> signature = signatureOf(arguments);
    const Resolution resolution = resolveOverload(candidates, signature, TypesFrom::kProgram);
    if (resolution.kind == Resolution::Kind::None) {
      reportRejections(context_, span, name, candidates, arguments, resolution.rejections);
      return typed::poison(span);
    }
    values = converter_.arrange(builtin.schema, resolution.fit, std::move(arguments), before, span, false);
    declared_result = scriptType(resultType(builtin.schema, resolution.fit));
  }
  for (const ExprPtr& value : values) types.push_back(value->type);
  const TypePtr type = builtin.result_rule != nullptr ? builtin.result_rule(types) : declared_result;
  if (type == nullptr) {
    Diagnostic& diagnostic = context_.error(span, fmt::format("{} does not take ({})", name, given));
    const std::string accepted = acceptedTypes(builtin.result_rule, types);
    diagnostic.note(accepted.empty() ? toString(builtin.schema) : accepted);
    if (std::ranges::any_of(types, [](TypePtr t) { return t->isOptional(); })) {
      diagnostic.note("check `is None` first for what may be None");
    }
    return typed::poison(span);
  }
  // Built-ins that make lists make lists of any values; numbers and tensors have their own kinds of list.
  const TypePtr any_list = Type::listOf(Type::any());
  const bool is_packed = declared_result == any_list && !isSameRepresentation(type, any_list);
  ExprPtr call = typed::make(is_packed ? any_list : type, span, typed::CallBuiltin{index, std::move(values)});
  if (is_packed) call = typed::convertAtRunTime(std::move(call), type);
  return typed::withStatements(std::move(before), std::move(call));
}

std::optional<std::vector<ExprPtr>> BuiltinResolver::variadicArguments(const Builtin& builtin,
                                                                       std::vector<TypedArgument> arguments,
                                                                       Span span) {
  const std::vector<Argument>& parameters = builtin.schema.arguments();
  size_t fixed = 0;
  while (fixed + 1 < parameters.size() && !parameters[fixed + 1].kwarg_only()) ++fixed;
  const TypePtr element = parameters[fixed].type()->element();

  size_t positional = 0;
  while (positional < arguments.size() && arguments[positional].keyword.empty()) ++positional;
  const size_t least = fixed + builtin.min_variadic;
  const size_t most = fixed + size_t{builtin.max_variadic};
  if (positional < least || positional > most) {
    const bool too_many = positional > most;
    const size_t limit = too_many ? most : least;
    context_.error(span, fmt::format("{} takes {} {} argument{}, not {}", builtin.name(),
                                     least == most ? "exactly"
                                     : too_many    ? "at most"
                                                   : "at least",
                                     limit, limit == 1 ? "" : "s", positional));
    return std::nullopt;
  }

  std::vector<ExprPtr> values;
  for (size_t i = 0; i < positional; ++i) {
    TypePtr wanted = i < fixed ? parameters[i].type() : element;
    if (wanted->hasVariables()) {
      const TypePtr own = arguments[i].value->type;
      wanted = own->kind() == wanted->kind() ? own : substituteVariables(wanted, {});
    }
    values.push_back(converter_.convertOrReport(std::move(arguments[i].value), wanted,
                                                fmt::format("argument {} of {}", i + 1, builtin.name())));
  }
  std::vector<std::string_view> names;
  for (size_t p = fixed + 1; p < parameters.size(); ++p) names.push_back(parameters[p].name());
  for (size_t i = positional; i < arguments.size(); ++i) {
    if (std::ranges::find(names, arguments[i].keyword) != names.end()) continue;
    const std::string suggestion = didYouMeanArgument(arguments[i].keyword, names);
    context_.error(arguments[i].span, fmt::format("{} has no argument '{}'{}{}", builtin.name(), arguments[i].keyword,
                                                  suggestion.empty() ? "" : ".", suggestion));
    return std::nullopt;
  }
  for (size_t p = fixed + 1; p < parameters.size(); ++p) {
    const auto given = std::ranges::find(arguments, std::string_view(parameters[p].name()), &TypedArgument::keyword);
    if (given == arguments.end()) {
      values.push_back(typed::constant(*parameters[p].default_value(), parameters[p].type(), span));
    } else {
      values.push_back(
          converter_.convertOrReport(std::move(given->value), parameters[p].type(),
                                     fmt::format("argument '{}' of {}", parameters[p].name(), builtin.name())));
    }
  }
  return values;
}

}  // namespace boxcar::interp
