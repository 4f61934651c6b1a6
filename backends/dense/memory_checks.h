#pragma once

#include <boxcar/backends/shape/output.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/tensor.h>

#include <initializer_list>
#include <span>

// What is checked of tensors before they are read or written.

namespace boxcar::dense {

using shape::checkNoInternalOverlap;
// An Error when [output] and [input], neither of which has gaps, share some memory; being the same elements in the same
// order is allowed. Whether views with gaps do, so that [input] must be read before [output] is written.
bool checkNoPartialOverlap(const Tensor& output, const Tensor& input);
// Gives an out= argument that was checked the sizes of what is written to it, and more memory when they need it. Its
// elements are not kept where it had other sizes.
void resizeOutput(const shape::Output& output);
// The same for several. Where one of them cannot grow, none has other sizes than before.
void resizeOutputs(std::span<const shape::Output> outputs);
// An Error when [tensor] is undefined or on a device of a plugin: not the CPU, CUDA or Meta.
void checkDense(const Tensor& tensor);
// The device of all of [tensors]. An Error when one is undefined or on a device of a plugin, or when they are on
// several; a tensor of the CPU without dimensions goes along with any device.
Device commonDevice(std::initializer_list<const Tensor*> tensors);

}  // namespace boxcar::dense
