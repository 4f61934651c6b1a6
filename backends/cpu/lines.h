#pragma once

#include <boxcar/backends/cpu/callable_ref.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace boxcar::cpu {

// The maximum number of lines that are processed together.
inline constexpr int64_t kBundle = 64;

// Calls body(addresses) for every line of elements along dimension [dim], with the address of the line's first element
// in each of [tensors]. All tensors have the sizes of the first one, except that dimension [dim] may differ and others
// may be larger; the steps along the line are their strides[dim]. Long work is split between threads, each line within
// one thread. Does nothing on Meta.
void forEachLine(size_t dim, std::initializer_list<const Tensor*> tensors, CallableRef<void(char* const*)> body);

// Like forEachLine, but for bundles of lines that are adjacent in all of [tensors], so that they are processed
// together: body(addresses, width, beside) gets the addresses of the first line, the number of lines, and whether the
// lines are adjacent; if not, they come one by one.
void forEachBundle(size_t dim, std::initializer_list<const Tensor*> tensors,
                   CallableRef<void(char* const*, int64_t, bool)> body);

// Return the number of elements of a line of [tensor] along [dim], and the step between them in bytes.
inline int64_t lineLength(const Tensor& tensor, size_t dim) { return tensor.dim() == 0 ? 1 : tensor.sizes()[dim]; }
inline int64_t lineStep(const Tensor& tensor, size_t dim) {
  return tensor.dim() == 0 ? 0 : tensor.strides()[dim] * static_cast<int64_t>(tensor.itemsize());
}

}  // namespace boxcar::cpu
