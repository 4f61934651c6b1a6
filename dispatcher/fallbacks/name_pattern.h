#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/operator_name.h>

#include <string>

namespace boxcar {

// Whether an operator is one that a user names by [pattern]: "aten::add.Tensor" is one overload ("aten::sum.default"
// the one without a name), "aten::add" all of that name, "add" those of every namespace, and what has * ? [ in it is
// matched as file names are: "aten::*_".
BOXCAR_API bool matchesPattern(const OperatorName& name, const std::string& pattern);

// Whether that is an operator that is defined now.
BOXCAR_API bool matchesSomeOperator(const std::string& pattern);

}  // namespace boxcar
