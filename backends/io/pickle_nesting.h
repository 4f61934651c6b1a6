#pragma once

#include <boxcar/backends/io/pickle.h>

#include <vector>

namespace boxcar::io {

// Whether [value] can hold others that a pickle makes.
bool isPickleContainer(const IValue& value) noexcept;

// Throws Error at [place] if [result], or one of [others], contains itself or is nested too deeply, and if [result]
// holds functions, or PickledObjects that are not [allowed]. Takes time proportional to what they hold, however often
// something is shared.
void checkPickledNesting(const IValue& result, const std::vector<IValue>& others, bool allowed,
                         const PicklePlace& place);

}  // namespace boxcar::io
