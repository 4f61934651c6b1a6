#pragma once

#include <boxcar/schema/argument.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace boxcar::detail {

// The argument that breaks a rule about how arguments combine, and how it does.
struct ArgumentFault {
  std::size_t index;
  std::string reason;
};
std::optional<ArgumentFault> findFault(std::span<const Argument> arguments, bool is_vararg);

// Returns why this cannot be the name of an overload, or "".
std::string overloadFault(std::string_view overload_name);

}  // namespace boxcar::detail
