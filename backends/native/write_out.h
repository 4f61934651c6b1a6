#pragma once

#include <boxcar/backends/meta/output.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <tuple>

// How operators write to out= arguments and in place: everything is checked before the first one is resized or written.

namespace boxcar::native {

using meta::checkNoOverlap;
using meta::Overlap;
using meta::TensorPointers;
using meta::Written;

// Returns the device of all of [tensors]. Throws Error if they are on several devices, or if one is undefined or on a
// plugin's device.
Device checkSameDevice(TensorPointers tensors);

// Throws Error if [self], which is written in place, has elements that share memory, shares memory with [inputs], or if
// an input is on another device.
void checkWrittenInPlace(const Tensor& self, TensorPointers inputs);

// Writes computed results. An out= argument takes the sizes of its result and, if its sizes change, the strides. Throws
// Error, with nothing changed, if an out= argument cannot take its result, overlaps [inputs] in a way that [overlap]
// forbids, or shares memory with another.
void writeAll(std::initializer_list<Written> written, TensorPointers inputs, Overlap overlap);

// Writes one result to [out], which must have the result's dtype.
Tensor& writeSameType(Tensor& out, const Tensor& result, TensorPointers inputs, Overlap overlap = Overlap::kRefused);
// Writes one result to [out], which may have any dtype that the result can be cast to.
Tensor& writeResult(Tensor& out, const Tensor& result);
// Writes two results of the outputs' dtypes.
std::tuple<Tensor&, Tensor&> writeSameTypes(Tensor& first, Tensor& second, const std::tuple<Tensor, Tensor>& results,
                                            TensorPointers inputs, Overlap overlap = Overlap::kRefused);

// Checks and resizes [outputs], which a kernel then writes directly while it reads [inputs].
void prepare(std::initializer_list<meta::Output> outputs, TensorPointers inputs, Overlap overlap);

// Whether [out] uses the storage of one of [inputs].
bool sharesStorage(const Tensor& out, TensorPointers inputs);

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

  // Fills [out] directly, unless it shares memory with one of [inputs] or has other sizes.
  template <class Fill>
  Tensor& write(Tensor& out, TensorPointers inputs, Fill&& fill) const {
    const meta::Output output{out, sizes, {}, dtype, device};
    meta::checkOutput(output);
    if (output.resizes() || sharesStorage(out, inputs)) return writeSameType(out, make(fill), {});
    if (!out.is_meta()) fill(out);
    return out;
  }
};

}  // namespace boxcar::native
