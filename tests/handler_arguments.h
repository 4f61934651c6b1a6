#pragma once

#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/ivalue/error.h>

#include <memory>
#include <string>
#include <vector>

namespace boxcar {

// Returns arguments that any kind of handler accepts and with which it changes nothing in the calls that it wraps:
// its file is [path], and its pattern matches no operator. Throws Error for another argument without a default.
inline std::vector<IValue> harmlessArguments(const HandlerKind& kind, const std::string& path) {
  std::vector<IValue> values;
  for (const Argument& argument : kind.parsedSchema().arguments()) {
    if (argument.name() == "path") {
      values.emplace_back(path);
    } else if (argument.name() == "pattern") {
      values.emplace_back(std::string("no::such_operator"));
    } else {
      BOXCAR_CHECK(argument.default_value().has_value(), "add a value for '{}' of {} to tests/handler_arguments.h",
                   argument.name(), kind.name());
      values.push_back(*argument.default_value());
    }
  }
  return values;
}

// Returns arguments whose file is a new one in [folder].
inline std::vector<IValue> harmlessArgumentsIn(const HandlerKind& kind, const std::string& folder) {
  static int files = 0;
  return harmlessArguments(kind, folder + "/" + std::string(kind.name()) + std::to_string(++files));
}

inline std::unique_ptr<Handler> makeHarmless(const HandlerKind& kind, const std::string& folder) {
  return kind.make(harmlessArgumentsIn(kind, folder));
}

}  // namespace boxcar
