#include <boxcar/interpreter/builtins.h>
#include <boxcar/interpreter/inference.h>
#include <boxcar/interpreter/wording.h>

#include <algorithm>

// Calls of what the language brings and is no operator.

namespace boxcar::interp {

using boost::variant2::get_if;
using typed::ExprPtr;

bool Inference::isCallable(std::string_view name) {
  const auto index = findBuiltin(name);
  return index && !builtins()[*index].is_hidden && name.find_first_of(".:") == std::string_view::npos;
}

bool Inference::isOperatorAttribute(std::string_view name) {
  static constexpr std::string_view names[] = {"name", "overload", "schema", "arg_names", "tags"};
  return std::ranges::find(names, name) != std::end(names);
}

bool Inference::isTensorAttribute(std::string_view name) {
  static constexpr std::string_view names[] = {"shape", "dtype", "device", "ndim", "T", "layout", "keys"};
  return std::ranges::find(names, name) != std::end(names);
}

// A call that is an instruction where the types are known; null where it is none.
ExprPtr Inference::inlineBuiltin(std::string_view name, std::vector<TypedArgument>& arguments, Span span) {
  if (arguments.size() != 1 || !arguments[0].keyword.empty()) return nullptr;
  ExprPtr& value = arguments[0].value;
  const TypeKind kind = value->type->kind();
  const bool is_number = kind == TypeKind::Int || kind == TypeKind::Bool || kind == TypeKind::Float;
  if (name == "len") {
    const bool has_length =
        kind == TypeKind::List || kind == TypeKind::Dict || kind == TypeKind::String || kind == TypeKind::Tuple;
    return has_length ? operate(Opcode::Length, Type::integer(), span, std::move(value)) : nullptr;
  }
  if (name == "int" && kind == TypeKind::Float) {
    return operate(Opcode::FloatToInt, Type::integer(), span, std::move(value));
  }
  if (name == "int" && is_number) return convert(std::move(value), {Type::integer()});
  if (name == "float" && is_number) return convert(std::move(value), {Type::floating()});
  if (name == "bool") return truth(std::move(value));
  return nullptr;
}

ExprPtr Inference::callBuiltin(std::string_view name, std::vector<TypedArgument> arguments, Span span) {
  for (const TypedArgument& argument : arguments) {
    if (isPoison(*argument.value)) return poison(span);
  }
  if (name == "redispatch" && (function_ == nullptr || (function_->kind != BodyKind::Handler &&
                                                        function_->kind != BodyKind::Impl))) {
    error(span, "`redispatch` stands in the bodies of `impl`, `fallback` and `mode` only");
    return poison(span);
  }
  if (ExprPtr inlined = inlineBuiltin(name, arguments, span)) return inlined;

  const uint16_t index = *findBuiltin(name);
  const Builtin& builtin = builtins()[index];
  if (name == "print" || name == "str") {
    for (TypedArgument& argument : arguments) argument.value = shown(std::move(argument.value));
  }
  std::vector<TypePtr> types;
  typed::Block before;
  std::vector<ExprPtr> values;
  if (builtin.variadic) {
    auto given = variadicArguments(builtin, std::move(arguments), span);
    if (!given) return poison(span);
    values = *std::move(given);
    for (const ExprPtr& value : values) types.push_back(value->type);
  } else {
    const FunctionSchema* candidates[] = {&builtin.schema};
    std::vector<CallArgument> signature;
    for (const TypedArgument& argument : arguments) signature.push_back({argument.value->type, argument.keyword});
    const Resolution resolution = resolveOverload(candidates, signature, false);
    if (resolution.kind == Resolution::Kind::None) {
      reportRejections(span, name, candidates, arguments, resolution.rejections);
      return poison(span);
    }
    values = arrange(builtin.schema, resolution.fit, std::move(arguments), before, span, false);
    for (const ExprPtr& value : values) types.push_back(value->type);
    if (builtin.result_rule == nullptr) {
      ExprPtr call = make(scriptType(resultType(builtin.schema, resolution.fit)), span,
                          typed::CallBuiltin{index, std::move(values)});
      return withStatements(std::move(before), std::move(call));
    }
  }
  const TypePtr type =
      builtin.result_rule != nullptr ? builtin.result_rule(types) : scriptType(resultType(builtin.schema, {}));
  if (type == nullptr) {
    std::string shown_types;
    for (const TypePtr argument : types) shown_types += fmt::format("{}{}", shown_types.empty() ? "" : ", ", *argument);
    error(span, fmt::format("{} does not take ({})", name, shown_types)).note(toString(builtin.schema));
    return poison(span);
  }
  return withStatements(std::move(before), make(type, span, typed::CallBuiltin{index, std::move(values)}));
}

// The arguments of a built-in whose last positional parameter is written singly: what is before it, the single ones,
// then keyword ones in the schema's order.
std::optional<std::vector<ExprPtr>> Inference::variadicArguments(const Builtin& builtin,
                                                                 std::vector<TypedArgument> arguments, Span span) {
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
    error(span, fmt::format("{} takes {} {} argument{}, not {}", builtin.name(),
                            least == most ? "exactly"
                            : too_many    ? "at most"
                                          : "at least",
                            limit, limit == 1 ? "" : "s", positional));
    return std::nullopt;
  }

  std::vector<ExprPtr> values;
  for (size_t i = 0; i < positional; ++i) {
    const TypePtr wanted = i < fixed ? parameters[i].type() : element;
    values.push_back(convertOrReport(std::move(arguments[i].value), wanted,
                                     fmt::format("argument {} of {}", i + 1, builtin.name())));
  }
  std::vector<std::string_view> names;
  for (size_t p = fixed + 1; p < parameters.size(); ++p) names.push_back(parameters[p].name());
  for (size_t i = positional; i < arguments.size(); ++i) {
    if (std::ranges::find(names, arguments[i].keyword) != names.end()) continue;
    error(arguments[i].span,
          withSuggestion(fmt::format("{} has no argument '{}'", builtin.name(), arguments[i].keyword),
                         arguments[i].keyword, names));
    return std::nullopt;
  }
  for (size_t p = fixed + 1; p < parameters.size(); ++p) {
    const auto given = std::ranges::find(arguments, std::string_view(parameters[p].name()), &TypedArgument::keyword);
    if (given == arguments.end()) {
      values.push_back(constant(*parameters[p].default_value(), parameters[p].type(), span));
    } else {
      values.push_back(convertOrReport(std::move(given->value), parameters[p].type(),
                                       fmt::format("argument '{}' of {}", parameters[p].name(), builtin.name())));
    }
  }
  return values;
}

}  // namespace boxcar::interp
