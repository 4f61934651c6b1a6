#pragma once

#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::cpu {

// Writes the elements of [source], broadcast and converted, into [target]. They must not overlap.
void copyElements(const Tensor& target, const Tensor& source);

// A copy of [tensor] with elements of [dtype], its dimensions in the same order in memory.
Tensor convertTo(const Tensor& tensor, ScalarType dtype);

// [tensor] itself when it is contiguous, else a copy that is.
Tensor toContiguous(const Tensor& tensor);

// Writes [result] to the out= argument of an operator, which is resized to its sizes. An Error when the type of [out]
// cannot hold it or [out] cannot be written to.
Tensor& writeResult(Tensor& out, const Tensor& result);

// Writes [number] as one element of [type] to [address], converted as a tensor's element would be.
void storeNumber(void* address, ScalarType type, const Scalar& number);

// The element of [type] at [address].
Scalar loadNumber(const void* address, ScalarType type);

}  // namespace boxcar::cpu
