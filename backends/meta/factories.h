#pragma once

#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/layout.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>
#include <span>

namespace boxcar::meta {

// Returns the strides of a tensor of [sizes] in [format]. Throws Error if the number of dimensions is not the one the
// format requires, or if the format is Preserve, which means nothing without a tensor.
DimVector stridesIn(MemoryFormat format, std::span<const int64_t> sizes);

// Returns the format that a copy of [tensor] keeps: ChannelsLast or ChannelsLast3d if its strides say so, else
// Contiguous.
MemoryFormat formatOf(const Tensor& tensor);

// Throws Error if a size in [size] is negative.
void checkSizes(std::span<const int64_t> size);

// Throws Error for tensor properties that boxcar does not have: layouts other than strided, pinned memory.
void checkProperties(std::optional<Layout> layout, std::optional<bool> pin_memory);

// Returns the dtype of a tensor filled with [value]: bool, int64, float32 or complex64.
ScalarType typeOfFill(const Scalar& value);

// Returns how many numbers lie in [start, end) in steps of [step]. Throws Error if the step is zero or leads away from
// [end], or if [start] or [end] is not finite.
int64_t arangeLength(const Scalar& start, const Scalar& end, const Scalar& step, ScalarType type);

// Returns int64 if all three are integers, else float32.
ScalarType typeOfArange(const Scalar& start, const Scalar& end, const Scalar& step);

// Throws Error if [steps] is negative.
void checkSteps(int64_t steps);

// Returns the dtype of linspace and logspace: float32, or complex64 if an end is complex.
ScalarType typeOfLinspace(const Scalar& start, const Scalar& end);

// Returns how many elements of a matrix of [rows] by [columns] lie on and below diagonal [offset]. Throws Error if two
// indices per element are more than 63 bits can count.
int64_t lowerTriangleCount(int64_t rows, int64_t columns, int64_t offset);

}  // namespace boxcar::meta
