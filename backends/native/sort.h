#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>

namespace boxcar::native {

// Writes the elements of [self] sorted along dimension [dim], and their indices; the sort is stable. NaN is greater
// than all others. The tensors have elements and dimensions, and the same sizes.
using SortLines = void(const Tensor& values, const Tensor& indices, const Tensor& self, size_t dim, bool descending);
extern DeviceStub<SortLines> sortLines;

// Writes only the first [k] elements of that order.
using ChooseFirst = void(const Tensor& values, const Tensor& indices, const Tensor& self, size_t dim, int64_t k,
                         bool descending);
extern DeviceStub<ChooseFirst> chooseFirst;

}  // namespace boxcar::native
