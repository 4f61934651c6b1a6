#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <initializer_list>
#include <span>

// What is checked of tensors before they are read or written.

namespace boxcar::dense {

// An Error when two elements of [tensor] share memory, so that it cannot be written to.
void checkNoInternalOverlap(const Tensor& tensor);
// An Error when [output] and [input] share some memory; being the same elements in the same order is allowed.
void checkNoPartialOverlap(const Tensor& output, const Tensor& input);
// Gives [out] other sizes, and more memory when they need it. Its elements are not kept.
void resizeOutput(const Tensor& out, std::span<const int64_t> sizes);
// An Error when [tensor] is undefined or on a device of a plugin: not the CPU, CUDA or Meta.
void checkDense(const Tensor& tensor);
// The device of all of [tensors]. An Error when one is undefined or on a device of a plugin, or when they are on
// several; a tensor of the CPU without dimensions goes along with any device.
Device commonDevice(std::initializer_list<const Tensor*> tensors);

}  // namespace boxcar::dense
