#pragma once

// What the names of built-ins mean.

#include <string_view>

namespace boxcar::interp {

// Whether a built-in is called by this name alone, as `len` is.
bool isCallable(std::string_view name);
// Whether this names an attribute of a Tensor, such as `shape`.
bool isTensorAttribute(std::string_view name);
// Whether this names an attribute of an operator, such as `schema`.
bool isOperatorAttribute(std::string_view name);

}  // namespace boxcar::interp
