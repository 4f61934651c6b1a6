#pragma once

#include <boxcar/backends/dense/device_function.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::dense {

// Attention of checked arguments in one kernel that holds no scores; [mask] may be undefined, and [scale] multiplies
// the products. Undefined when the device has no such kernel for them: then it is made of products.
using AttentionFunction = Tensor(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
                                 bool is_causal, double scale, bool enable_gqa);
extern DeviceFunction<AttentionFunction> attendAtOnce;

}  // namespace boxcar::dense
