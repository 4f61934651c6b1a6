#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/tensor.h>

#include <string>

namespace boxcar::cli {

// Returns "[64, 3] float32", followed by "on cuda:0" if the tensor is not on the CPU.
std::string sizeAndDtype(const Tensor& tensor);

// Returns a value as the prompt shows it: as `print` does, unless it is a list, tuple or dict that holds more than 1000
// values, including those in its tensors. It then shows only the first elements, and tensors as sizeAndDtype() does:
//   {'weight': tensor of [64, 3] float32,
//    …(+20 more)}
std::string summaryOf(const IValue& value);

}  // namespace boxcar::cli
