#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar {

// Gives a tensor on the CPU with the elements of one on another device: undefined where nobody copies from there.
// Throws Error where the copy fails, or shows what had failed before.
using HostCopy = Tensor (*)(const Tensor& tensor);

// Who copies a tensor when its elements are printed: the backends, which this room does not know.
BOXCAR_API void setHostCopy(HostCopy copy) noexcept;

}  // namespace boxcar
