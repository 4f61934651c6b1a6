#pragma once

#include <boxcar/schema/type.h>

namespace boxcar::interp {

// Returns the type of a value that is an [a] on one path and a [b] on another: T? if one is None, Any if they have
// nothing in common.
TypePtr joinTypes(TypePtr a, TypePtr b);

}  // namespace boxcar::interp
