#pragma once

#include <boxcar/backends/functors/windows.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/images.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::native {

// Images, and the windows over them; each window gives one element of the result.
struct Windows {
  Images in;
  functors::WindowAxis rows;
  functors::WindowAxis columns;
};

// Writes each window's greatest element to [out], and its row-major index in its image to [indices]. All tensors have
// the layout of windows.in and elements of a real type.
using GreatestFunction = void(const Windows& windows, const Tensor& out, const Tensor& indices, const Tensor& self);
extern DeviceStub<GreatestFunction> takeGreatest;

// Writes each window's sum, divided by [divisor]. Elements are floats or int64.
using MeanFunction = void(const Windows& windows, const functors::WindowDivisor& divisor, const Tensor& out,
                          const Tensor& self);
extern DeviceStub<MeanFunction> takeMean;

}  // namespace boxcar::native
