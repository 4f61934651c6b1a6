#pragma once

#include <boxcar/backends/shape/dims.h>
#include <boxcar/ivalue/layout.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>
#include <span>

namespace boxcar::shape {

// Strides of a tensor of [sizes] in [format]; an Error when it has not as many dimensions as the format asks for, or
// the format is Preserve, which says nothing without a tensor.
DimVector stridesIn(MemoryFormat format, std::span<const int64_t> sizes);

// The format that a copy of [tensor] keeps: ChannelsLast or ChannelsLast3d when its strides say so, else Contiguous.
MemoryFormat formatOf(const Tensor& tensor);

// An Error when one of [size] is negative.
void checkSizes(std::span<const int64_t> size);

// An Error for the tensor properties that boxcar does not have: layouts other than strided, pinned memory.
void checkProperties(std::optional<Layout> layout, std::optional<bool> pin_memory);

// The type of numbers that [value] fills a tensor with: bool, int64, float32 or complex64.
ScalarType typeOfFill(const Scalar& value);

// How many numbers lie from [start] to before [end] in steps of [step]; an Error when the step is zero, leads away from
// [end], or there is no end.
int64_t arangeLength(const Scalar& start, const Scalar& end, const Scalar& step, ScalarType type);

// int64 when all three are integers, else float32.
ScalarType typeOfArange(const Scalar& start, const Scalar& end, const Scalar& step);

// An Error when [steps] is negative.
void checkSteps(int64_t steps);

// What linspace and logspace make: float32, or complex64 when an end is complex.
ScalarType typeOfLinspace(const Scalar& start, const Scalar& end);

// How many elements of a matrix of [rows] by [columns] lie on and below diagonal [offset]; an Error when there are more
// than 63 bits can count.
int64_t lowerTriangleCount(int64_t rows, int64_t columns, int64_t offset);

}  // namespace boxcar::shape
