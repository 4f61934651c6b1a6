#pragma once

#include <boxcar/backends/cpu/callable_ref.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace boxcar::cpu {

// How many lines are walked along together at most.
inline constexpr int64_t kBundle = 64;

// Calls body(addresses) for every line of elements along dimension [dim]: the address of the line's first element in
// each of [tensors]. They have the sizes of the first but for dimension [dim], or larger ones; steps along the line are
// their strides[dim]. Long work is shared between threads, a line being one's alone. Nothing is called on Meta.
void forEachLine(size_t dim, std::initializer_list<const Tensor*> tensors, CallableRef<void(char* const*)> body);

// The same for bundles of lines that lie side by side in all of [tensors], so that they are walked along together:
// body(addresses, width, beside) is called with the first line's addresses, the number of lines, and whether they lie
// so; where they do not, they come one by one.
void forEachBundle(size_t dim, std::initializer_list<const Tensor*> tensors,
                   CallableRef<void(char* const*, int64_t, bool)> body);

// The number of elements of a line of [tensor] along [dim], and the step between them in bytes.
inline int64_t lineLength(const Tensor& tensor, size_t dim) { return tensor.dim() == 0 ? 1 : tensor.sizes()[dim]; }
inline int64_t lineStep(const Tensor& tensor, size_t dim) {
  return tensor.dim() == 0 ? 0 : tensor.strides()[dim] * static_cast<int64_t>(tensor.itemsize());
}

}  // namespace boxcar::cpu
