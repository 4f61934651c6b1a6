#pragma once

#include <boxcar/backends/shape/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>
#include <string_view>

// What the operators that read or write where indices say ask of their arguments. Those that take [dim] give it back
// counted from the front; an Error tells sizes and dtypes.

namespace boxcar::shape {

int64_t checkGather(const Tensor& self, int64_t dim, const Tensor& index);
// [src] is null where a number is written.
int64_t checkScatter(std::string_view name, const Tensor& self, int64_t dim, const Tensor& index, const Tensor* src);

// [index] holds int64, or int32, and has one dimension or none.
void checkIndexVector(std::string_view name, const Tensor& index, bool takes_int32);

// The sizes of what index_select gives; writes the dimension back to [dim].
DimVector indexSelectSizes(const Tensor& self, int64_t& dim, const Tensor& index);
int64_t checkIndexAdd(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source);
int64_t checkIndexCopy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source);
int64_t checkIndexFill(const Tensor& self, int64_t dim, const Tensor& index);

void checkTake(const Tensor& self, const Tensor& index);

// An Error when [mask] holds neither bools nor bytes.
void checkMask(std::string_view name, const Tensor& mask);

}  // namespace boxcar::shape
