#pragma once

#include <boxcar/ivalue/stack.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace boxcar {

// Returns what a call left on [stack], given that [below] values were under its arguments. Empty if its kernel also
// took some of those, as the kernel of an operator with any number of arguments does.
inline std::span<const IValue> resultsAbove(const Stack& stack, size_t below) noexcept {
  return last(stack, stack.size() - std::min(below, stack.size()));
}

}  // namespace boxcar
