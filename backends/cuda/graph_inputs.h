#pragma once

#include <boxcar/ivalue/ivalue.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar::cuda {

// What a call of a function reads, as far as a graph of the function depends on it.
struct GraphInputs {
  // Equal for calls that one graph can serve: the structure of the values, numbers and texts, of tensors the dtype,
  // sizes, strides and device, and of small ones on the CPU the elements; and the keys that the thread excludes.
  std::string key;
  // The tensors of the device, those of the arguments first.
  std::vector<Tensor> tensors;
  size_t argument_tensors = 0;
};

// An Error names the function and what no graph can take: large tensors on the CPU, those of another CUDA device than
// [device], generators.
GraphInputs readGraphInputs(std::string_view function, std::span<const IValue> arguments,
                            std::span<const IValue> constants, int device);

// The CUDA device of the first tensor in [values] that has one, or the thread's current one.
int deviceOfValues(std::span<const IValue> values);

}  // namespace boxcar::cuda
