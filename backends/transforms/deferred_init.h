#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>

#include <functional>

namespace boxcar::transforms {

// Calls [make] and returns its result, whose tensors are fake: they take no memory, and know how they are made.
BOXCAR_API IValue deferredInit(const std::function<IValue()>& make);

// Returns [value] with real tensors for those that deferredInit() made, in lists, tuples and dicts, too: it makes the
// calls that they depend on, in their order, once. Random numbers are drawn now. Other tensors are returned as they
// are.
BOXCAR_API IValue materialize(const IValue& value);

}  // namespace boxcar::transforms
