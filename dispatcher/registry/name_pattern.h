#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/operator_name.h>

#include <string>

namespace boxcar {

// Whether [name] matches a user's [pattern]: "aten::add.Tensor" is one overload ("aten::sum.default" is the one without
// an overload name), "aten::add" all overloads of that name, "add" those of every namespace. A pattern that contains *,
// ? or [ is matched like file names: "aten::*_".
BOXCAR_API bool matchesPattern(const OperatorName& name, const std::string& pattern);

// Whether any operator that is defined now matches.
BOXCAR_API bool matchesSomeOperator(const std::string& pattern);

}  // namespace boxcar
