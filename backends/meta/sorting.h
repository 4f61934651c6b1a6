#pragma once

#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>
#include <string_view>

// Argument checks of the operators that order elements, and the sizes of their results.

namespace boxcar::meta {

// Throws Error if the elements of [self] are complex, as these have no order.
void checkOrdered(std::string_view name, const Tensor& self);

// Returns the sizes of the result of topk; writes the dimension, counted from the front, back to [dim].
DimVector topkSizes(const Tensor& self, int64_t k, int64_t& dim);

// Throws Error if dimension [dim] of [self], counted from the front, is empty.
void checkLineNotEmpty(std::string_view name, const Tensor& self, int64_t dim);

// Returns whether values equal to a boundary are inserted after it. Throws Error if [side] and [right] contradict each
// other or the tensors do not match.
bool checkSearch(std::string_view name, const Tensor& boundaries, const Tensor& values, bool right,
                 std::optional<std::string_view> side, const std::optional<Tensor>& sorter, bool out_int32);

}  // namespace boxcar::meta
