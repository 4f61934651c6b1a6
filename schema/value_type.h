#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/type.h>

namespace boxcar {

// Whether [value] is of type [type], to any depth: an empty list is of every list type that it can be read as. A type
// variable accepts anything.
BOXCAR_API bool matches(const IValue& value, TypePtr type);

// Returns the narrowest type of a value: `Tensor`, `int[]`, `Dict(str, Tensor)`; Any for elements without a common type
// and for those of an empty list or dict. Takes time proportional to what the value holds.
BOXCAR_API TypePtr typeOf(const IValue& value);

}  // namespace boxcar
