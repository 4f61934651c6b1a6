#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::native {

// Computes attention of checked arguments in one kernel that does not store the scores; [mask] may be undefined, and
// [scale] multiplies the products. Returns undefined if the device has no such kernel for them; attention is then
// composed of products.
using AttentionFunction = Tensor(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
                                 bool is_causal, double scale, bool enable_gqa);
extern DeviceStub<AttentionFunction> attendAtOnce;

}  // namespace boxcar::native
