#pragma once

#include <boxcar/ivalue/ivalue.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::cuda {

// The inputs of a function call that a graph of the function depends on.
struct GraphInputs {
  // Equal for calls that one graph can serve. Made of the structure of the values, numbers and strings; of tensors'
  // dtype, sizes, strides and device; of the elements of small CPU tensors; and of the keys that the thread excludes.
  std::string key;
  // The tensors on the device, those of the arguments first.
  std::vector<Tensor> tensors;
  size_t argument_tensors = 0;
};

// Throws Error that names the function and the input that no graph supports: large CPU tensors, tensors on another CUDA
// device than [device], generators.
GraphInputs readGraphInputs(std::string_view function, std::span<const IValue> arguments,
                            std::span<const IValue> constants, int device);

// Returns the CUDA device of the first CUDA tensor in [values], or the thread's current device.
int deviceOfValues(std::span<const IValue> values);

}  // namespace boxcar::cuda
