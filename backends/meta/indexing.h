#pragma once

#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>
#include <string_view>

// Argument checks of the operators that read or write at indices. Those that take [dim] return it counted from the
// front. Errors contain sizes and dtypes.

namespace boxcar::meta {

int64_t checkGather(const Tensor& self, int64_t dim, const Tensor& index);
// [src] is null if a number is written.
int64_t checkScatter(std::string_view name, const Tensor& self, int64_t dim, const Tensor& index, const Tensor* src);

// Throws Error if [index] does not hold int64 (or int32 if [takes_int32]) or has more than one dimension.
void checkIndexVector(std::string_view name, const Tensor& index, bool takes_int32);

// Returns the sizes of the result of index_select; writes the dimension, counted from the front, back to [dim].
DimVector indexSelectSizes(const Tensor& self, int64_t& dim, const Tensor& index);
int64_t checkIndexAdd(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source);
int64_t checkIndexCopy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source);
int64_t checkIndexFill(const Tensor& self, int64_t dim, const Tensor& index);

void checkTake(const Tensor& self, const Tensor& index);

// Throws Error if [mask] does not hold bools.
void checkMask(std::string_view name, const Tensor& mask);

}  // namespace boxcar::meta
