#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>

// Operators whose result size is the number of nonzero elements. Masks are contiguous bools.

namespace boxcar::native {

// Returns the indices, in a tensor of [sizes], of the true elements of [mask], in order: int64 of sizes [count,
// dimensions], stored column by column.
using IndicesOfTrue = Tensor(const Tensor& mask, std::span<const int64_t> sizes);
extern DeviceStub<IndicesOfTrue> indicesOfTrue;

// Returns the elements of contiguous [self] where [mask], of as many elements, is true.
using SelectMasked = Tensor(const Tensor& self, const Tensor& mask);
extern DeviceStub<SelectMasked> selectMasked;

// Writes the elements of [source], in order, to the positions of [self] where [mask] is true. All are contiguous.
// Throws Error if [source] has too few elements.
using ScatterMasked = void(const Tensor& self, const Tensor& mask, const Tensor& source);
extern DeviceStub<ScatterMasked> scatterMasked;

// Returns [tensor] as contiguous bools.
Tensor toBools(const Tensor& tensor);

}  // namespace boxcar::native
