#include <boxcar/backends/cpu/lines.h>
#include <boxcar/backends/cpu/strided_loop.h>
#include <boxcar/backends/meta/dims.h>

#include <algorithm>

namespace boxcar::cpu {
namespace {

// Calls body(data, steps, n0, n1) for the first elements of all lines.
void forFirstElements(size_t dim, std::initializer_list<const Tensor*> tensors, StridedLoop::Body body) {
  const Tensor& first = **tensors.begin();
  if (first.is_meta()) return;
  DimVector sizes = toDimVector(first.sizes());
  if (!sizes.empty()) sizes[dim] = 1;
  StridedLoop nest(sizes);
  for (const Tensor* tensor : tensors) nest.add(tensor->data_ptr(), sizes, tensor->strides(), tensor->itemsize());
  nest.runParallel(first.numel(), body);
}

}  // namespace

void forEachLine(size_t dim, std::initializer_list<const Tensor*> tensors, CallableRef<void(char* const*)> body) {
  forFirstElements(dim, tensors, [&](char* const* data, const int64_t* steps, int64_t n0, int64_t n1) {
    char* line[kMaxOperands];
    for (int64_t j = 0; j < n1; ++j) {
      for (int64_t i = 0; i < n0; ++i) {
        for (size_t k = 0; k < tensors.size(); ++k) line[k] = data[k] + i * steps[k] + j * steps[kMaxOperands + k];
        body(line);
      }
    }
  });
}

void forEachBundle(size_t dim, std::initializer_list<const Tensor*> tensors,
                   CallableRef<void(char* const*, int64_t, bool)> body) {
  forFirstElements(dim, tensors, [&](char* const* data, const int64_t* steps, int64_t n0, int64_t n1) {
    bool beside = true;
    for (size_t k = 0; k < tensors.size(); ++k) {
      beside &= steps[k] == static_cast<int64_t>((*(tensors.begin() + k))->itemsize());
    }
    const int64_t width = beside ? kBundle : 1;
    char* line[kMaxOperands];
    for (int64_t j = 0; j < n1; ++j) {
      for (int64_t i = 0; i < n0; i += width) {
        for (size_t k = 0; k < tensors.size(); ++k) line[k] = data[k] + i * steps[k] + j * steps[kMaxOperands + k];
        body(line, std::min(width, n0 - i), beside);
      }
    }
  });
}

}  // namespace boxcar::cpu
