#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/tensor.h>

#include <string>

namespace boxcar::cli {

// "[64, 3] float32", and "on cuda:0" behind it where it is not on the CPU.
std::string sizeAndDtype(const Tensor& tensor);

// A value as the prompt shows it: as `print` does, unless it is a list, tuple or dict that holds more than 1000 values,
// those in its tensors with them. Of such a one the first are shown, and of tensors what sizeAndDtype() tells:
//   {'weight': tensor of [64, 3] float32,
//    …(+20 more)}
std::string summaryOf(const IValue& value);

}  // namespace boxcar::cli
