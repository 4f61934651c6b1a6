#pragma once

#include <boxcar/ivalue/tensor.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>

// How operators write to an out= argument whose dtype must be the result's.

namespace boxcar::dense {

// An Error when [out] is not of [dtype] and on [device], or has elements that share memory.
void checkStructuredOut(const Tensor& out, ScalarType dtype, Device device);

// Writes [result] to [out], which takes its sizes and, where these were others, its strides.
Tensor& writeStructured(Tensor& out, const Tensor& result);

// Whether the elements of [out] lie in the memory of one of [inputs].
bool sharesStorage(const Tensor& out, std::initializer_list<const Tensor*> inputs);

// A contiguous result that a kernel fills.
struct ContiguousResult {
  std::span<const int64_t> sizes;
  ScalarType dtype;
  Device device;

  template <class Fill>
  Tensor make(Fill&& fill) const {
    const Tensor result = Tensor::allocate(sizes, dtype, device);
    if (!result.is_meta()) fill(result);
    return result;
  }

  // The same in [out]: where it lies, unless it shares memory with one of [inputs] or has other sizes.
  template <class Fill>
  Tensor& write(Tensor& out, std::initializer_list<const Tensor*> inputs, Fill&& fill) const {
    checkStructuredOut(out, dtype, device);
    if (!std::ranges::equal(out.sizes(), sizes) || sharesStorage(out, inputs)) return writeStructured(out, make(fill));
    if (!out.is_meta()) fill(out);
    out.storage()->bumpVersion();
    return out;
  }
};

}  // namespace boxcar::dense
