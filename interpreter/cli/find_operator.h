#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>

#include <string>

namespace boxcar::cli {

// Returns the operator that a user calls [name]: "aten::add.Tensor", or "aten::relu" if that has only one overload.
// Throws Error, which lists the overloads or suggests the nearest names, if there is no such operator.
OperatorHandle findOperator(const std::string& name);

}  // namespace boxcar::cli
