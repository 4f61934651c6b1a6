#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>

#include <string>

namespace boxcar {

// Returns the text of a tensor that holds others, such as one inside func::vmap(); empty for any other tensor.
using TransformText = std::string (*)(const Tensor& tensor);

// Sets the function that writes tensors that hold others. The backends provide it when the first is made.
BOXCAR_API void setTransformText(TransformText text) noexcept;

}  // namespace boxcar
