#pragma once

#include <boxcar/ivalue/tensor.h>

#include <initializer_list>
#include <tuple>

// How operators that work out a result, and then write it to an argument, write it: all is checked before.

namespace boxcar::dense {

using TensorPointers = std::initializer_list<const Tensor*>;

// The device of all of [tensors], CPU or Meta. An Error when they are on several.
Device checkSameDevice(TensorPointers tensors);

// An Error when [written] and [input] share memory.
void checkNoOverlap(const Tensor& written, const Tensor& input);

// An Error when [self], which is written to in place, has elements that share memory, or shares some with [inputs]; or
// when one of them is on another device.
void checkWrittenInPlace(const Tensor& self, TensorPointers inputs);

// Writes [result] to the out= argument of an operator, which takes its sizes and,
// where these were others, its strides. An Error when [out] has not its dtype, is on another device, or shares memory
// with one of [inputs].
Tensor& writeSameType(Tensor& out, const Tensor& result, TensorPointers inputs);

// The same for operators with two results.
std::tuple<Tensor&, Tensor&> writeSameTypes(Tensor& first, Tensor& second, const std::tuple<Tensor, Tensor>& results,
                                            TensorPointers inputs);

}  // namespace boxcar::dense
