#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar {

// Returns a strided CPU tensor with the elements of one on another device or of another layout; undefined if no copy
// from there is registered. Throws Error if the copy fails or reveals an earlier failure.
using HostCopy = Tensor (*)(const Tensor& tensor);

// Sets the function that copies a tensor when its elements are printed. The backends provide it; ivalue/ does not know
// them.
BOXCAR_API void setHostCopy(HostCopy copy) noexcept;

}  // namespace boxcar
