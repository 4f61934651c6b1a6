#pragma once

#include <boxcar/backends/meta/output.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/tensor.h>

#include <initializer_list>
#include <span>

// Checks of tensors before they are read or written.

namespace boxcar::native {

using meta::checkNoInternalOverlap;
// Throws Error if [output] and [input], both without gaps, partly overlap; the same elements in the same order are
// allowed. Returns whether views with gaps partly overlap, so that [input] must be read before [output] is written.
bool checkNoPartialOverlap(const Tensor& output, const Tensor& input);
// Resizes a checked out= argument to the sizes of its result and grows its memory if needed. Elements are not kept if
// the sizes change.
void resizeOutput(const meta::Output& output);
// Resizes several outputs. If one of them cannot grow, all keep their sizes.
void resizeOutputs(std::span<const meta::Output> outputs);
// Throws Error if [tensor] is undefined, not strided, or on a plugin's device, that is, not on the CPU, CUDA or Meta.
void checkDense(const Tensor& tensor);
// Returns the device of all of [tensors]. Throws Error if one is undefined, not strided, or on a plugin's device, or if
// they are on several devices; zero-dimensional CPU tensors may be combined with any device.
Device commonDevice(std::initializer_list<const Tensor*> tensors);

}  // namespace boxcar::native
