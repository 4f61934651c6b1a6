#include <boxcar/schema/hash.h>
#include <boxcar/schema/operator_name.h>

namespace boxcar {

std::optional<std::string_view> OperatorName::getNamespace() const {
  const std::size_t end = name.find("::");
  if (end == std::string::npos) return std::nullopt;
  return std::string_view(name).substr(0, end);
}

bool OperatorName::setNamespaceIfNotSet(std::string_view ns) {
  if (getNamespace()) return false;
  name.insert(0, std::string(ns) + "::");
  return true;
}

std::string toString(const OperatorName& name) {
  return name.overload_name.empty() ? name.name : name.name + '.' + name.overload_name;
}

std::size_t hashOf(const OperatorName& name) {
  detail::StableHash hash;
  hash.add(name.name);
  hash.add(name.overload_name);
  return hash.value();
}

}  // namespace boxcar
