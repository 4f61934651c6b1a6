#pragma once

#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <string>
#include <vector>

// Tensors that a run gets from outside of its trace: read from files, made by the program itself, or existing before.

namespace boxcar::detail {

// A tensor as it was just before a call got it, which may write it.
struct Outside {
  Tensor tensor;
  // What the call got, if that is [tensor] lazily conjugated or negated; undefined else.
  Tensor lazy;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset = 0;

  // What the tensor is rebuilt from: itself if it covers its whole storage, else the whole storage in one dimension.
  Tensor root;
  // The elements of [root], on the CPU. Undefined if the trace knows the storage, and on the meta device.
  Tensor copy;
  // Its name in a file or in a script's dict; "" if there is none.
  std::string key;

  const Tensor& given() const noexcept { return lazy.defined() ? lazy : tensor; }
  bool isRoot() const noexcept { return root.is_same(tensor); }
};

// Copies the elements if [with_elements] is set.
Outside lookAt(const Tensor& tensor, bool with_elements);

// Returns the whole [storage] in one dimension, as elements of [dtype].
Tensor flatTensor(const Storage& storage, ScalarType dtype);

// Returns a copy of a contiguous tensor on the CPU.
Tensor copyOnHost(const Tensor& tensor);

}  // namespace boxcar::detail
