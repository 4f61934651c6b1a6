#pragma once

#include <boxcar/backends/shape/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace boxcar::shape {

// The sizes that remain when the dimensions of [mask] are reduced: without them or, with [keepdim], with 1 in place.
DimVector reducedSizes(std::span<const int64_t> sizes, uint64_t mask, bool keepdim);

// An Error when a dimension of [mask] has no element: [name] has no result for nothing.
void checkReducedNotEmpty(std::string_view name, const Tensor& self, uint64_t mask);
// An Error when [self] has no element and no dimension was named.
void checkReducedDimsGiven(std::string_view name, const Tensor& self);

// What a reduction that takes dtype= computes in: [dtype] when it is given, else the type of [out]. An Error when they
// are not the same.
ScalarType reducedTypeInto(std::string_view name, const Tensor& out, std::optional<ScalarType> dtype);

// An Error when [out] does not have elements of [type].
void checkOutType(std::string_view name, const Tensor& out, ScalarType type);

// The type of elements that a variance or a norm is computed in: [dtype] or that of [self]. An Error when it is neither
// floating-point nor complex, or when [dtype] would narrow [self].
ScalarType floatingReductionType(std::string_view name, const Tensor& self, std::optional<ScalarType> dtype);

}  // namespace boxcar::shape
