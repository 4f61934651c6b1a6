#include <boxcar/ivalue/alternatives.h>
#include <fmt/format.h>

namespace boxcar {

std::string alternatives(std::span<const std::string_view> names) {
  if (names.size() < 2) return names.empty() ? std::string() : std::string(names[0]);
  return fmt::format("{} or {}", fmt::join(names.first(names.size() - 1), ", "), names.back());
}

}  // namespace boxcar
