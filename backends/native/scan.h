#pragma once

#include <boxcar/backends/functors/scan.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <string_view>

// Operators whose results each depend on the elements up to theirs along one dimension.

namespace boxcar::native {

using functors::Scan;

// Writes the scan of [self] along dimension [dim] to [out], which is contiguous and has the same sizes and dtype. Both
// have elements and dimensions. [name] is the operator's name.
using ScanLines = void(std::string_view name, Scan scan, const Tensor& out, const Tensor& self, size_t dim);
extern DeviceStub<ScanLines> scanLines;

// Writes the greatest, or least, element up to each element of [self], and its index along dimension [dim].
using ScanExtremes = void(bool greatest, const Tensor& values, const Tensor& indices, const Tensor& self, size_t dim);
extern DeviceStub<ScanExtremes> scanExtremes;

}  // namespace boxcar::native
