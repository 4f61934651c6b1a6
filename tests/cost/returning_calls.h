#pragma once

#include <boxcar/ivalue/tensor.h>

#include <span>
#include <string_view>

namespace boxcar {

// Paths of an operator that takes two tensors and returns one. They have a source of their own: beside them the
// compiler would make other code of the paths of an operator that returns nothing.
std::span<const std::string_view> returningPaths();
void runReturning(std::string_view path, const Tensor& a, const Tensor& b, long count);

}  // namespace boxcar
