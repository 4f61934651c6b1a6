#pragma once

#include <boxcar/ivalue/tensor.h>

#include <span>
#include <string_view>

namespace boxcar {

// Call paths of an operator that takes two tensors and returns one. They are in their own source: otherwise they would
// change the code that the compiler generates for an operator that returns nothing.
std::span<const std::string_view> returningPaths();
void runReturning(std::string_view path, const Tensor& a, const Tensor& b, long count);

}  // namespace boxcar
