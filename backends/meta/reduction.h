#pragma once

#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace boxcar::meta {

// Returns the sizes after reducing the dimensions of [mask], which are removed or, with [keepdim], have size 1.
DimVector reducedSizes(std::span<const int64_t> sizes, uint64_t mask, bool keepdim);

// Throws Error if a dimension of [mask] is empty, as [name] has no result for no elements.
void checkReducedNotEmpty(std::string_view name, const Tensor& self, uint64_t mask);
// Throws Error if [self] is empty. For calls that name no dimension.
void checkReducedDimsGiven(std::string_view name, const Tensor& self);

// Returns the type that a reduction with dtype= computes in, which is the type of [out]. Throws Error if [dtype] is
// given and differs from it.
ScalarType reducedTypeInto(std::string_view name, const Tensor& out, std::optional<ScalarType> dtype);

// Throws Error if [out] does not have elements of [type].
void checkOutType(std::string_view name, const Tensor& out, ScalarType type);

// Returns the type that a variance or a norm is computed in: [dtype] if given, else that of [self]. Throws Error if
// either type is neither floating-point nor complex, if only one is complex, or if [dtype] would narrow [self].
ScalarType floatingReductionType(std::string_view name, const Tensor& self, std::optional<ScalarType> dtype);

}  // namespace boxcar::meta
