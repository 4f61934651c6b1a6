#include <boxcar/schema/schema_rules.h>

#include <fmt/format.h>

#include <cstdint>

namespace boxcar::detail {
namespace {

// Different names mostly differ in this bit, so few have to be compared.
std::uint64_t nameBit(std::string_view name) {
  const auto first = static_cast<unsigned char>(name.front());
  const auto last = static_cast<unsigned char>(name.back());
  return std::uint64_t{1} << ((first * 7 + last * 13 + name.size()) % 64);
}

}  // namespace

std::optional<ArgumentFault> findFault(std::span<const Argument> arguments, bool is_vararg) {
  std::uint64_t seen_names = 0;
  bool seen_default = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    const std::string& name = argument.name();
    if (name.empty()) [[unlikely]]
      return ArgumentFault{i, fmt::format("argument {} has no name", i)};
    const std::uint64_t bit = nameBit(name);
    if ((seen_names & bit) != 0) {
      for (std::size_t j = 0; j < i; ++j) {
        if (arguments[j].name() == name) return ArgumentFault{i, fmt::format("two arguments are called '{}'", name)};
      }
    }
    seen_names |= bit;

    if (argument.default_value()) {
      seen_default = true;
      if (is_vararg) {
        return ArgumentFault{i, fmt::format("argument '{}' cannot have a default beside '...'", name)};
      }
    } else if (seen_default && !argument.kwarg_only() && !argument.type()->isList()) {
      return ArgumentFault{i, fmt::format("argument '{}' needs a default, because one before it has one: give it one, "
                                          "move it forward or put '*' before it",
                                          name)};
    }
    if (i != 0 && arguments[i - 1].kwarg_only() && !argument.kwarg_only()) {
      return ArgumentFault{i, fmt::format("positional argument '{}' follows a keyword-only one", name)};
    }
  }
  return std::nullopt;
}

std::string overloadFault(std::string_view overload_name) {
  if (overload_name == "default") return "overload name 'default' is reserved: it means the overload without a name";
  if (overload_name.starts_with("__")) {
    return fmt::format("overload name '{}' starts with '__', which is reserved", overload_name);
  }
  return {};
}

}  // namespace boxcar::detail
