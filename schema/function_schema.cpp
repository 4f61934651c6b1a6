#include <boxcar/ivalue/error.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/hash.h>
#include <boxcar/schema/schema_rules.h>
#include <boxcar/schema/words.h>

#include <algorithm>
#include <utility>

namespace boxcar {
namespace {

bool isWrite(const Argument& argument) { return argument.is_write(); }

void checkName(const OperatorName& name) {
  const std::string_view whole = name.name;
  const std::size_t colons = whole.find("::");
  const bool is_valid = colons == std::string_view::npos
                            ? detail::isName(whole)
                            : detail::isName(whole.substr(0, colons)) && detail::isName(whole.substr(colons + 2));
  BOXCAR_CHECK(
      is_valid,
      "'{}' cannot name an operator: a name is a word that is not a keyword, or two such words separated by '::'",
      whole);
  if (name.overload_name.empty()) return;
  BOXCAR_CHECK(detail::isName(name.overload_name),
               "'{}' cannot name an overload: a name is a word that is not a keyword", name.overload_name);
  const std::string fault = detail::overloadFault(name.overload_name);
  BOXCAR_CHECK(fault.empty(), "{}: {}", name, fault);
}

}  // namespace

FunctionSchema::FunctionSchema(std::string name, std::string overload_name, std::vector<Argument> arguments,
                               std::vector<Argument> returns, bool is_vararg, bool is_varret)
    : FunctionSchema(OperatorName(std::move(name), std::move(overload_name)), std::move(arguments), std::move(returns),
                     is_vararg, is_varret) {}

FunctionSchema::FunctionSchema(OperatorName name, std::vector<Argument> arguments, std::vector<Argument> returns,
                               bool is_vararg, bool is_varret)
    : name_(std::move(name)),
      arguments_(std::move(arguments)),
      returns_(std::move(returns)),
      is_vararg_(is_vararg),
      is_varret_(is_varret) {
  checkName(name_);
  if (const std::optional<detail::ArgumentFault> fault = detail::findFault(arguments_, is_vararg_)) {
    BOXCAR_FAIL("{}: {}", name_, fault->reason);
  }
  for (const Argument& result : returns_) {
    BOXCAR_CHECK(!result.default_value() && !result.kwarg_only(),
                 "{}: result '{}' has a default or is keyword-only, which only arguments can be", name_, result);
  }
}

std::string_view toString(AliasAnalysisKind kind) noexcept {
  switch (kind) {
    case AliasAnalysisKind::INTERNAL_SPECIAL_CASE: return "INTERNAL_SPECIAL_CASE";
    case AliasAnalysisKind::CONSERVATIVE: return "CONSERVATIVE";
    case AliasAnalysisKind::FROM_SCHEMA: return "FROM_SCHEMA";
    case AliasAnalysisKind::PURE_FUNCTION: return "PURE_FUNCTION";
  }
  return "";
}

void FunctionSchema::setAliasAnalysis(AliasAnalysisKind kind) {
  BOXCAR_CHECK(kind != AliasAnalysisKind::PURE_FUNCTION || !hasAnyAliasInfo(),
               "operator {} cannot be a PURE_FUNCTION: its schema has alias annotations. Drop them, or leave it to "
               "FROM_SCHEMA. Schema: {}",
               name_, *this);
  alias_analysis_ = kind;
}

bool FunctionSchema::operator==(const FunctionSchema& other) const {
  return name_ == other.name_ && arguments_ == other.arguments_ && returns_ == other.returns_ &&
         is_vararg_ == other.is_vararg_ && is_varret_ == other.is_varret_;
}

std::optional<int> FunctionSchema::argumentIndexWithName(std::string_view name) const noexcept {
  const auto found = std::ranges::find(arguments_, name, &Argument::name);
  if (found == arguments_.end()) return std::nullopt;
  return static_cast<int>(found - arguments_.begin());
}

bool FunctionSchema::hasAnyAliasInfo() const noexcept {
  const auto hasAlias = [](const Argument& argument) { return argument.alias_info() != nullptr; };
  return std::ranges::any_of(arguments_, hasAlias) || std::ranges::any_of(returns_, hasAlias);
}

bool FunctionSchema::is_mutable() const noexcept { return std::ranges::any_of(arguments_, isWrite); }

const Argument& FunctionSchema::argumentAt(const SchemaArgument& argument) const {
  const std::vector<Argument>& list = getCorrectList(argument.type);
  BOXCAR_CHECK(argument.index < list.size(), "{} has no {} {}: it has {}", name_,
               argument.type == SchemaArgType::input ? "argument" : "result", argument.index, list.size());
  return list[argument.index];
}

bool FunctionSchema::is_mutable(const SchemaArgument& argument) const { return isWrite(argumentAt(argument)); }

bool FunctionSchema::is_mutable(std::string_view name) const {
  const std::optional<int> index = argumentIndexWithName(name);
  BOXCAR_CHECK(index.has_value(), "{} has no argument '{}'", *this, name);
  return is_mutable(static_cast<std::size_t>(*index));
}

FunctionSchema FunctionSchema::cloneWithName(std::string name, std::string overload_name) const {
  return FunctionSchema(std::move(name), std::move(overload_name), arguments_, returns_, is_vararg_, is_varret_);
}

std::string toString(const FunctionSchema& schema) {
  std::string text = toString(schema.operator_name());
  text += '(';
  std::string_view separator;
  const auto begin = [&](std::string_view next) {
    text.append(separator).append(next);
    separator = ", ";
  };
  bool seen_kwarg_only = false;
  for (const Argument& argument : schema.arguments()) {
    if (argument.kwarg_only() && !seen_kwarg_only) {
      begin("*");
      seen_kwarg_only = true;
    }
    begin(toString(argument));
  }
  if (schema.is_vararg()) begin("...");
  text += ") -> ";

  separator = {};
  std::string returns;
  std::swap(text, returns);
  for (const Argument& result : schema.returns()) begin(toString(result));
  if (schema.is_varret()) begin("...");
  // A single tuple type needs the parentheses of a list of returns around its own.
  const bool is_alone = schema.returns().size() + schema.is_varret() == 1 && text.front() != '(';
  return is_alone ? returns + text : returns + '(' + text + ')';
}

std::size_t hashOf(const FunctionSchema& schema) {
  detail::StableHash hash;
  hash.add(schema.name());
  hash.add(schema.overload_name());
  const auto addAll = [&hash](const std::vector<Argument>& arguments) {
    hash.add(arguments.size());
    for (const Argument& argument : arguments) {
      hash.add(argument.name());
      hash.add(toString(argument.type(), argument.alias_info()));
      hash.add(static_cast<std::uint64_t>(argument.N().value_or(-1)));
      hash.add(std::uint64_t{argument.kwarg_only()} << 1 | std::uint64_t{argument.default_value().has_value()});
    }
  };
  addAll(schema.arguments());
  addAll(schema.returns());
  hash.add(std::uint64_t{schema.is_vararg()} << 1 | std::uint64_t{schema.is_varret()});
  return hash.value();
}

}  // namespace boxcar
