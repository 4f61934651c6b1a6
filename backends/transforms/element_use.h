#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/dispatch_key_set.h>

// Which calls read the elements of their tensors: asked by the levels whose tensors have other elements than their
// memory holds, or no memory.

namespace boxcar::transforms {

// Whether [op] reads and writes no elements: it makes views, or tensors like others, or tells what is known without
// elements. What it calls may read them.
bool readsNoElements(const OperatorHandle& op);

// Whether the kernel of [op] for the backend among [keys] only calls other operators, on the same tensors.
bool isMadeOfOthers(const OperatorHandle& op, DispatchKeySet keys);

}  // namespace boxcar::transforms
