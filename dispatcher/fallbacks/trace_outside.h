#pragma once

#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <string>
#include <vector>

// Tensors that a run has from outside of what its trace tells: read from files, made by the program itself, there
// before.

namespace boxcar::detail {

// A tensor as it was when a call was about to get it, which may write it.
struct Outside {
  Tensor tensor;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset = 0;

  // What the tensor is rebuilt from: itself where it is all of its storage, else all of the storage in one dimension.
  Tensor root;
  // The elements of [root], on the CPU. Undefined where the storage is one that the trace knows, and on the meta
  // device.
  Tensor copy;
  // What a file or a script's dict calls it; "" where there is none.
  std::string key;

  bool isRoot() const noexcept { return root.is_same(tensor); }
};

// Elements are copied when [with_elements] says so.
Outside lookAt(const Tensor& tensor, bool with_elements);

// All of [storage] in one dimension, as elements of [dtype].
Tensor flatTensor(const Storage& storage, ScalarType dtype);

// A copy of a contiguous tensor on the CPU.
Tensor copyOnHost(const Tensor& tensor);

}  // namespace boxcar::detail
