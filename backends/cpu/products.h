#pragma once

#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::cpu {

// out = beta * out + alpha * a @ b for matrices of one type, or for batches of them with equal first dimensions. What
// [out] held is not read when [beta] is 0. It overlaps neither input. float16 and bfloat16 are summed in float32.
// Nothing is done on Meta.
void multiplyInto(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha, const Scalar& beta);

}  // namespace boxcar::cpu
