#pragma once

#include <boxcar/backends/dense/device_function.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>

// Operators whose results are as large as there are elements that are not zero. Masks are of bools and contiguous.

namespace boxcar::dense {

// The indices, in a tensor of [sizes], of what is true in [mask], in order: int64 of sizes [count, dimensions], one
// column after the other.
using IndicesOfTrue = Tensor(const Tensor& mask, std::span<const int64_t> sizes);
extern DeviceFunction<IndicesOfTrue> indicesOfTrue;

// The elements of contiguous [self], as many as there are in [mask], where that is true.
using SelectMasked = Tensor(const Tensor& self, const Tensor& mask);
extern DeviceFunction<SelectMasked> selectMasked;

// Writes the elements of [source], one after the other, to where [mask] is true in [self]. All are contiguous. An Error
// when there are too few.
using ScatterMasked = void(const Tensor& self, const Tensor& mask, const Tensor& source);
extern DeviceFunction<ScatterMasked> scatterMasked;

// [tensor] as bools in the order of their indices.
Tensor toBools(const Tensor& tensor);

}  // namespace boxcar::dense
