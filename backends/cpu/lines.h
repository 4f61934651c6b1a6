#pragma once

#include <boxcar/backends/cpu/strided_loop.h>
#include <boxcar/backends/shape/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace boxcar::cpu {

// How many lines are walked along together at most.
inline constexpr int64_t kBundle = 64;

// Calls body(addresses) for every line of elements along dimension [dim]: the address of the line's first element in
// each of [tensors]. They have the sizes of the first but for dimension [dim], or larger ones; steps along the line are
// their strides[dim]. Long work is shared between threads, a line being one's alone. Nothing is called on Meta.
template <class Body>
void forEachLine(size_t dim, std::initializer_list<const Tensor*> tensors, Body&& body) {
  if ((*tensors.begin())->is_meta()) return;
  DimVector sizes = toDimVector((*tensors.begin())->sizes());
  if (!sizes.empty()) sizes[dim] = 1;
  StridedLoop nest(sizes);
  for (const Tensor* tensor : tensors) nest.add(tensor->data_ptr(), sizes, tensor->strides(), tensor->itemsize());
  nest.runParallel((*tensors.begin())->numel(), [&](char* const* data, const int64_t* steps, int64_t n0, int64_t n1) {
    char* line[kMaxOperands];
    for (int64_t j = 0; j < n1; ++j) {
      for (int64_t i = 0; i < n0; ++i) {
        for (size_t k = 0; k < tensors.size(); ++k) line[k] = data[k] + i * steps[k] + j * steps[kMaxOperands + k];
        body(static_cast<char* const*>(line));
      }
    }
  });
}

// The same for bundles of lines that lie side by side in all of [tensors], so that they are walked along together:
// body(addresses, width) is called with the first line's addresses and the number of lines, 1 where they lie otherwise.
template <class Body>
void forEachBundle(size_t dim, std::initializer_list<const Tensor*> tensors, Body&& body) {
  if ((*tensors.begin())->is_meta()) return;
  DimVector sizes = toDimVector((*tensors.begin())->sizes());
  if (!sizes.empty()) sizes[dim] = 1;
  StridedLoop nest(sizes);
  for (const Tensor* tensor : tensors) nest.add(tensor->data_ptr(), sizes, tensor->strides(), tensor->itemsize());
  nest.runParallel((*tensors.begin())->numel(), [&](char* const* data, const int64_t* steps, int64_t n0, int64_t n1) {
    bool beside = true;
    for (size_t k = 0; k < tensors.size(); ++k) {
      beside &= steps[k] == static_cast<int64_t>((*(tensors.begin() + k))->itemsize());
    }
    const int64_t width = beside ? kBundle : 1;
    char* line[kMaxOperands];
    for (int64_t j = 0; j < n1; ++j) {
      for (int64_t i = 0; i < n0; i += width) {
        for (size_t k = 0; k < tensors.size(); ++k) line[k] = data[k] + i * steps[k] + j * steps[kMaxOperands + k];
        body(static_cast<char* const*>(line), std::min(width, n0 - i));
      }
    }
  });
}

// The number of elements of a line of [tensor] along [dim], and the step between them in bytes.
inline int64_t lineLength(const Tensor& tensor, size_t dim) { return tensor.dim() == 0 ? 1 : tensor.sizes()[dim]; }
inline int64_t lineStep(const Tensor& tensor, size_t dim) {
  return tensor.dim() == 0 ? 0 : tensor.strides()[dim] * static_cast<int64_t>(tensor.itemsize());
}

}  // namespace boxcar::cpu
