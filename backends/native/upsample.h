#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/images.h>
#include <boxcar/ivalue/tensor.h>

#include <optional>

namespace boxcar::native {

// The resizing of images to another height and width.
struct Upsampling {
  Images in;
  Images out;
  std::optional<double> scale_h;  // the factors that the caller gave
  std::optional<double> scale_w;
  bool align_corners = false;
};

// Writes the images of [self], which have elements and the layout of call.in, to [out], by nearest elements or linear
// interpolation.
using UpsampleFunction = void(const Upsampling& call, const Tensor& out, const Tensor& self);
extern DeviceStub<UpsampleFunction> upsampleNearest;
extern DeviceStub<UpsampleFunction> upsampleLinear;

}  // namespace boxcar::native
