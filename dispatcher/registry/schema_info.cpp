#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/schema_info.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/parse_schema.h>

#include <algorithm>
#include <utility>

namespace boxcar {
namespace {

// Operators that, if a flag is on, write to arguments without saying so in their schema.
struct WrittenInTraining {
  std::string_view op;
  std::string_view overload;
  std::string_view argument;
};
constexpr WrittenInTraining kWrittenInTraining[] = {
    {"aten::_batch_norm_impl_index", "", "running_mean"},
    {"aten::_batch_norm_impl_index", "", "running_var"},
    {"aten::batch_norm", "", "running_mean"},
    {"aten::batch_norm", "", "running_var"},
    {"aten::instance_norm", "", "running_mean"},
    {"aten::instance_norm", "", "running_var"},
    {"aten::native_batch_norm", "", "running_mean"},
    {"aten::native_batch_norm", "", "running_var"},
    {"aten::native_batch_norm", "out", "running_mean"},
    {"aten::native_batch_norm", "out", "running_var"},
    {"aten::rrelu_with_noise", "", "noise"},
    {"aten::rrelu_with_noise", "out", "noise"},
    {"aten::rrelu_with_noise_", "", "noise"},
};
constexpr std::string_view kTrainingFlags[] = {"training", "train", "use_input_stats"};

bool isWrittenInTraining(const FunctionSchema& schema, std::size_t index) {
  return std::ranges::any_of(kWrittenInTraining, [&](const WrittenInTraining& each) {
    return each.op == schema.name() && each.overload == schema.overload_name() &&
           each.argument == schema.arguments()[index].name();
  });
}

bool isOnOrUnknown(const IValue* flag) { return flag == nullptr || !flag->isBool() || flag->toBool(); }

bool isUndefined(const IValue& value) { return value.isTensor() && !value.toTensor().defined(); }

// Undefined tensors have no memory to share.
bool areAliases(const IValue& a, const IValue& b) { return !isUndefined(a) && a.isAliasOf(b); }

bool holds(const IValue& container, const IValue& value) {
  if (isUndefined(value)) return false;
  AliasedValues inside;
  container.getSubValues(inside);
  return inside.contains(value);
}

TypePtr typeOf(const FunctionSchema& schema, const SchemaArgument& argument) {
  return schema.getCorrectList(argument.type)[argument.index].type();
}

}  // namespace

// Indexed by argument and result number.
struct SchemaInfo::Aliases {
  // For each argument and each result: the arguments that it may alias.
  std::vector<std::vector<bool>> of_inputs;
  std::vector<std::vector<bool>> of_outputs;
  // The arguments and results that may alias, or be contained in, anything.
  std::vector<bool> wild_inputs;
  std::vector<bool> wild_outputs;

  const std::vector<std::vector<bool>>& of(SchemaArgType type) const {
    return type == SchemaArgType::input ? of_inputs : of_outputs;
  }
  std::vector<bool>& wild(SchemaArgType type) { return type == SchemaArgType::input ? wild_inputs : wild_outputs; }
  bool isWild(const SchemaArgument& argument) const {
    return (argument.type == SchemaArgType::input ? wild_inputs : wild_outputs)[argument.index];
  }
};

SchemaInfo::SchemaInfo(std::string_view schema) : SchemaInfo(parseSchema(schema)) {}

void SchemaInfo::addArgumentValue(std::string_view name, IValue value) {
  const std::optional<int> index = schema_.argumentIndexWithName(name);
  BOXCAR_CHECK(index.has_value(), "{} has no argument '{}'", schema_, name);
  values_.insert_or_assign(static_cast<std::size_t>(*index), std::move(value));
}

void SchemaInfo::addArgumentValues(const std::vector<std::optional<IValue>>& values) {
  BOXCAR_CHECK(values.size() <= schema_.arguments().size(), "{} takes {} arguments, and {} values were given for them",
               schema_.operator_name(), schema_.arguments().size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].has_value()) values_.insert_or_assign(i, *values[i]);
  }
}

void SchemaInfo::addArgumentValues(const std::unordered_map<std::string, IValue>& values) {
  for (const auto& [name, value] : values) addArgumentValue(name, value);
}

const IValue* SchemaInfo::valueAt(std::size_t index) const noexcept {
  const auto found = values_.find(index);
  return found == values_.end() ? nullptr : &found->second;
}

bool SchemaInfo::mayBeOn(std::string_view flag) const {
  const std::optional<int> index = schema_.argumentIndexWithName(flag);
  return index.has_value() && isOnOrUnknown(valueAt(static_cast<std::size_t>(*index)));
}

SchemaInfo::Aliases SchemaInfo::computeAliases() const {
  const std::size_t inputs = schema_.arguments().size();
  const std::size_t outputs = schema_.returns().size();
  Aliases aliases{std::vector(inputs, std::vector<bool>(inputs)), std::vector(outputs, std::vector<bool>(inputs)),
                  std::vector<bool>(inputs), std::vector<bool>(outputs)};

  // If two arguments, or two results, share a set, it is unknown which aliases which: everything in the set may.
  std::vector<std::string> shared;
  for (const SchemaArgType type : {SchemaArgType::input, SchemaArgType::output}) {
    std::vector<std::string> seen;
    const std::vector<Argument>& list = schema_.getCorrectList(type);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const AliasInfoPtr alias = list[i].alias_info();
      if (alias == nullptr) continue;
      if (alias->isWildcardAfter()) {
        aliases.wild(type)[i] = true;
        continue;
      }
      for (const std::string& set : alias->afterSets()) {
        std::vector<std::string>& into = std::ranges::find(seen, set) == seen.end() ? seen : shared;
        into.push_back(set);
      }
    }
  }
  for (const SchemaArgType type : {SchemaArgType::input, SchemaArgType::output}) {
    const std::vector<Argument>& list = schema_.getCorrectList(type);
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].alias_info() == nullptr) continue;
      for (const std::string& set : list[i].alias_info()->afterSets()) {
        if (std::ranges::find(shared, set) != shared.end()) aliases.wild(type)[i] = true;
      }
    }
  }

  // Aliasing among the values.
  for (std::size_t i = 0; i < inputs; ++i) {
    aliases.of_inputs[i][i] = true;
    for (std::size_t j = i + 1; j < inputs; ++j) {
      const IValue* const a = valueAt(i);
      const IValue* const b = valueAt(j);
      if (a == nullptr || b == nullptr || !areAliases(*a, *b)) continue;
      aliases.of_inputs[i][j] = aliases.of_inputs[j][i] = true;
      if (aliases.wild_inputs[i] || aliases.wild_inputs[j]) aliases.wild_inputs[i] = aliases.wild_inputs[j] = true;
    }
  }
  for (std::size_t i = 0; i < inputs; ++i) {
    for (std::size_t j = 0; j < inputs; ++j) {
      const IValue* const container = valueAt(i);
      const IValue* const value = valueAt(j);
      if (container == nullptr || value == nullptr || aliases.of_inputs[i][j]) continue;
      if (holds(*container, *value)) aliases.wild_inputs[j] = true;
    }
  }
  for (std::size_t i = 0; i < inputs; ++i) {
    for (std::size_t j = 0; j < outputs; ++j) {
      if (!schema_.may_alias({SchemaArgType::input, i}, {SchemaArgType::output, j})) continue;
      if (aliases.wild_inputs[i]) aliases.wild_outputs[j] = true;
      for (std::size_t k = 0; k < inputs; ++k) {
        if (aliases.of_inputs[i][k]) aliases.of_outputs[j][k] = true;
      }
    }
  }
  return aliases;
}

bool SchemaInfo::writes(std::size_t index) const {
  if (!isWrittenInTraining(schema_, index)) return schema_.is_mutable(index);
  return std::ranges::any_of(kTrainingFlags, [&](std::string_view flag) { return mayBeOn(flag); });
}

bool SchemaInfo::is_mutable() const {
  for (std::size_t i = 0; i < schema_.arguments().size(); ++i) {
    if (is_mutable({SchemaArgType::input, i})) return true;
  }
  return false;
}

bool SchemaInfo::is_mutable(const SchemaArgument& argument) const {
  static_cast<void>(schema_.is_mutable(argument));  // throws Error if there is no such argument
  const Aliases aliases = computeAliases();
  const std::vector<bool>& same = aliases.of(argument.type)[argument.index];
  for (std::size_t i = 0; i < same.size(); ++i) {
    if (same[i] && writes(i)) return true;
  }
  return false;
}

bool SchemaInfo::is_mutable(std::string_view name) const {
  const std::optional<int> index = schema_.argumentIndexWithName(name);
  BOXCAR_CHECK(index.has_value(), "{} has no argument '{}'", schema_, name);
  return is_mutable({SchemaArgType::input, static_cast<std::size_t>(*index)});
}

bool SchemaInfo::is_nondeterministic() const {
  if (schema_.operator_name() == OperatorName("aten::dropout", "") && !mayBeOn("train")) return false;
  const auto op = Dispatcher::singleton().findSchema(schema_.operator_name());
  return op.has_value() && op->hasTag(Tag::nondeterministic_seeded);
}

bool SchemaInfo::may_alias(const SchemaArgument& lhs, const SchemaArgument& rhs) const {
  if (schema_.may_alias(lhs, rhs)) return true;
  if (!FunctionSchema::canAliasTypeSetsAlias(FunctionSchema::mapTypeToAliasTypeSet(typeOf(schema_, lhs)),
                                             FunctionSchema::mapTypeToAliasTypeSet(typeOf(schema_, rhs)))) {
    return false;
  }
  const Aliases aliases = computeAliases();
  if (aliases.isWild(lhs) && aliases.isWild(rhs)) return true;
  if (rhs.type == SchemaArgType::input) return aliases.of(lhs.type)[lhs.index][rhs.index];
  if (lhs.type == SchemaArgType::input) return aliases.of_outputs[rhs.index][lhs.index];
  const std::vector<bool>& of_lhs = aliases.of_outputs[lhs.index];
  const std::vector<bool>& of_rhs = aliases.of_outputs[rhs.index];
  for (std::size_t i = 0; i < of_lhs.size(); ++i) {
    if (of_lhs[i] && of_rhs[i]) return true;
  }
  return false;
}

bool SchemaInfo::may_contain_alias(const SchemaArgument& lhs, const SchemaArgument& rhs, bool bidirectional) const {
  if (schema_.may_contain_alias(lhs, rhs, bidirectional) || may_alias(lhs, rhs)) return true;
  const Aliases aliases = computeAliases();
  const auto mayHold = [&](const SchemaArgument& container, const SchemaArgument& value) {
    const auto types = FunctionSchema::mapTypeToAliasTypeSet(typeOf(schema_, container));
    return aliases.isWild(value) &&
           FunctionSchema::canAliasTypeSetsAlias(FunctionSchema::getAliasTypeSetContainedTypes(types),
                                                 FunctionSchema::mapTypeToAliasTypeSet(typeOf(schema_, value)));
  };
  return mayHold(lhs, rhs) || (bidirectional && mayHold(rhs, lhs));
}

std::vector<std::size_t> undeclaredWrites(const FunctionSchema& schema, std::span<const IValue> values) {
  std::vector<std::size_t> written;
  // Most operators are not in the list, and this runs for every checked call, so check the name first.
  const auto is_it = [&](const WrittenInTraining& each) { return each.op == schema.name(); };
  if (std::ranges::none_of(kWrittenInTraining, is_it)) return written;
  const bool trains = std::ranges::any_of(kTrainingFlags, [&](std::string_view flag) {
    const std::optional<int> index = schema.argumentIndexWithName(flag);
    if (!index.has_value()) return false;
    const auto at = static_cast<std::size_t>(*index);
    return isOnOrUnknown(at < values.size() ? &values[at] : nullptr);
  });
  for (std::size_t i = 0; trains && i < schema.arguments().size(); ++i) {
    if (isWrittenInTraining(schema, i)) written.push_back(i);
  }
  return written;
}

}  // namespace boxcar
