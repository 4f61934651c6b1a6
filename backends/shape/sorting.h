#pragma once

#include <boxcar/backends/shape/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>
#include <string_view>

// What the operators that order elements ask of their arguments, and the sizes of what they give.

namespace boxcar::shape {

// An Error when the elements of [self] are complex: those have no order.
void checkOrdered(std::string_view name, const Tensor& self);

// The sizes of what topk gives; writes the dimension back to [dim], counted from the front.
DimVector topkSizes(const Tensor& self, int64_t k, int64_t& dim);

// An Error when dimension [dim] of [self], counted from the front, has no elements.
void checkLineNotEmpty(std::string_view name, const Tensor& self, int64_t dim);

// Whether values equal to a boundary go behind it; an Error when [side] and [right] contradict each other or the
// tensors do not fit.
bool checkSearch(std::string_view name, const Tensor& boundaries, const Tensor& values, bool right,
                 std::optional<std::string_view> side, const std::optional<Tensor>& sorter, bool out_int32);

}  // namespace boxcar::shape
