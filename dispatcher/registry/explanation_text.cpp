#include <boxcar/dispatcher/registry/entry_text.h>
#include <boxcar/dispatcher/registry/explanation.h>
#include <fmt/format.h>

namespace boxcar {
namespace {

// Returns the keys for which a kernel could be registered so that a call dispatched to [key] finds it.
std::string keysThatAnswer(const DispatchExplanation& explanation) {
  const DispatchKey key = explanation.chosen;
  std::vector<std::string_view> aliases;
  for (auto number = static_cast<uint16_t>(DispatchKey::StartOfAliasKeys);
       number <= static_cast<uint16_t>(DispatchKey::EndOfAliasKeys); ++number) {
    const auto alias = static_cast<DispatchKey>(number);
    if (alias == DispatchKey::CompositeImplicitAutograd && explanation.withdraws_implicit) continue;
    const bool serves_undefined = alias == DispatchKey::CompositeImplicitAutograd ||
                                  alias == DispatchKey::CompositeExplicitAutograd ||
                                  alias == DispatchKey::CompositeExplicitAutogradNonFunctional;
    if (key == DispatchKey::Undefined ? serves_undefined : isIncludedInAlias(key, alias))
      aliases.push_back(toString(alias));
  }
  if (key == DispatchKey::Undefined) return fmt::format("a kernel for {}", fmt::join(aliases, " or "));
  const std::string for_aliases =
      aliases.empty() ? "" : fmt::format(" or for an alias of it ({})", fmt::join(aliases, ", "));
  return fmt::format("a kernel for {}{}, or a fallback at {}", key, for_aliases, key);
}

std::string describeLack(const DispatchExplanation& explanation) {
  return fmt::format("the operator has kernels for: {}\nthe call would be served by: {}", explanation.kernel_keys,
                     keysThatAnswer(explanation));
}

// The lines that say where the call ends.
std::string describeEnd(const DispatchExplanation& explanation) {
  const DispatchKey key = explanation.chosen;
  if (key == DispatchKey::Undefined) {
    const std::string_view why = (explanation.merged | explanation.included).empty()
                                     ? "no argument and no thread brings a key"
                                     : "no key is left";
    if (explanation.table_entry.kernel->kind != KernelKind::Missing)
      return fmt::format("dispatched to: Undefined, as {}; it {}", why, describeEntry(key, explanation.table_entry));
    return fmt::format("dispatched to: Undefined, as {}; it has no kernel\n{}", why, describeLack(explanation));
  }
  std::string text = fmt::format("dispatched to: {}, which {}", key, describeEntry(key, explanation.table_entry));
  if (explanation.table_entry.kernel->kind == KernelKind::Missing) text += "\n" + describeLack(explanation);
  return text;
}

// Says which backend takes precedence if the arguments are on several.
std::string describeBackends(const DispatchExplanation& explanation) {
  const DispatchKeySet backends = explanation.merged & backend_bitset_mask;
  const BackendComponent highest = backends.highestBackendKey();
  const DispatchKeySet others = backends.remove_backend(highest);
  if (others.empty() || toBackendComponent(explanation.chosen) == BackendComponent::InvalidBit) return "";
  const DispatchKeySet dense(DispatchKey::Dense);
  return fmt::format("the highest of several backends serves the call: {} before {}\n",
                     listKeys(dense | DispatchKeySet(highest)), listKeys(dense | others));
}

// The lines that say what a level does, and how the call goes on below. [is_first]: the level that describeEnd() names.
std::string describeLevelOf(const ExplainedLevel& level, bool is_first, const OperatorName& above) {
  std::string text;
  if (!is_first) {
    const std::string as = level.op == above ? "" : fmt::format("{} at ", level.op);
    text = fmt::format("then: {}{}, which {}\n", as, level.key, describeEntry(level.key, level.table_entry));
  }
  if (!level.effect.empty()) text += fmt::format("  {}\n", level.effect);
  switch (level.next) {
    case LevelCall::Next::kBelow:
      text += fmt::format("  {}goes on with: {}\n", level.effect.empty() ? "a redispatch " : "", listKeys(level.below));
      break;
    case LevelCall::Next::kAnew:
      text += fmt::format("  its calls, if of {}, go on with: {}\n", level.op, listKeys(level.below));
      break;
    case LevelCall::Next::kParts: text += "  its calls begin at the top\n"; break;
    case LevelCall::Next::kEnd: break;
  }
  return text;
}

// Says what a tensor has inside, if it is wrapped.
std::string describeWrapped(const ArgumentKeys& argument) {
  std::string text;
  for (size_t i = argument.wrapped.size(); i-- > 0;) {
    text += fmt::format("; inside level {}: {}", argument.wrapped[i].number, listKeys(argument.wrapped[i].inside));
  }
  return text;
}

}  // namespace

std::vector<std::string_view> keyNamesOf(DispatchKeySet keys) {
  std::vector<std::string_view> names;
  if ((keys & backend_bitset_mask).empty()) {
    for (uint16_t number = 1; number < num_functionality_keys; ++number) {
      const auto functionality = static_cast<DispatchKey>(number);
      if (keys.has(functionality)) names.push_back(toString(functionality));
    }
    return names;
  }
  for (const DispatchKey key : keys) names.push_back(toString(key));
  return names;
}

std::string listKeys(DispatchKeySet keys) {
  const std::vector<std::string_view> names = keyNamesOf(keys);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::string toString(const DispatchExplanation& explanation) {
  std::string text = toString(explanation.schema) + "\n";
  for (const ArgumentKeys& argument : explanation.arguments) {
    text += fmt::format("argument '{}' (position {}, {}) brings: {}{}\n", argument.name, argument.index + 1,
                        *argument.type, listKeys(argument.keys), describeWrapped(argument));
  }
  if (explanation.arguments.size() > 1) text += fmt::format("together: {}\n", listKeys(explanation.merged));
  text += fmt::format("this thread includes: {}\nthis thread excludes: {}\n", listKeys(explanation.included),
                      explanation.excluded == default_excluded_set ? "the autocast keys, as every thread at its start"
                                                                   : listKeys(explanation.excluded));
  for (const PassedKey& passed : explanation.passed) {
    text += fmt::format("passed over: {}, which {}\n", passed.key,
                        passed.is_excluded ? "this thread excludes" : describeEntry(passed.key, passed.table_entry));
  }
  text += describeBackends(explanation) + describeEnd(explanation) + "\n";
  const OperatorName* above = nullptr;
  for (const ExplainedLevel& level : explanation.levels) {
    text += describeLevelOf(level, above == nullptr, above == nullptr ? level.op : *above);
    above = &level.op;
  }
  return text;
}

}  // namespace boxcar
