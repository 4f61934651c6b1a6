#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>

#include <string>

namespace boxcar::cli {

// The operator that a user calls [name]: "aten::add.Tensor", or "aten::relu" where that names one overload only. An
// Error that lists the overloads, or suggests the nearest names.
OperatorHandle findOperator(const std::string& name);

}  // namespace boxcar::cli
