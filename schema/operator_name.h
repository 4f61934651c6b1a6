#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace boxcar {

// Identifies an operator: `aten::add` and, if that name has several overloads, the overload `Tensor`.
struct BOXCAR_API OperatorName {
  std::string name;
  std::string overload_name;

  OperatorName() = default;
  OperatorName(std::string name_with_namespace, std::string overload)
      : name(std::move(name_with_namespace)), overload_name(std::move(overload)) {}

  // Returns the part before `::`, or nothing if the name has no namespace.
  std::optional<std::string_view> getNamespace() const;

  // Prepends [ns] to a name that has no namespace; returns false, and changes nothing, if it has one.
  bool setNamespaceIfNotSet(std::string_view ns);

  bool operator==(const OperatorName&) const = default;
};

// `aten::add.Tensor`, or `aten::relu` without an overload.
BOXCAR_API std::string toString(const OperatorName& name);

// The same in every run of the program.
BOXCAR_API std::size_t hashOf(const OperatorName& name);

}  // namespace boxcar

template <>
struct std::hash<boxcar::OperatorName> {
  std::size_t operator()(const boxcar::OperatorName& name) const { return boxcar::hashOf(name); }
};
