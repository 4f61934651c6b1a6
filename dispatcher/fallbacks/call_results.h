#pragma once

#include <boxcar/ivalue/stack.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace boxcar {

// What a call has left on [stack], where [below] values lay under its arguments. Nothing where its kernel took some of
// those, too, as the kernel of an operator with any number of arguments does.
inline std::span<const IValue> resultsAbove(const Stack& stack, size_t below) noexcept {
  return last(stack, stack.size() - std::min(below, stack.size()));
}

}  // namespace boxcar
