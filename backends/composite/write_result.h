#pragma once

#include <boxcar/ivalue/tensor.h>

namespace boxcar::composite {

// Writes [result] to the out= argument of an operator that is made of others; [out] is resized to its sizes. An Error
// when the type of [out] cannot hold the result.
Tensor& writeResult(Tensor& out, const Tensor& result);

}  // namespace boxcar::composite
