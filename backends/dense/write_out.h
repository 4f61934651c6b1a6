#pragma once

#include <boxcar/backends/shape/output.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <tuple>

// How operators write to out= arguments, and in place: all is checked before the first of them is resized or written.

namespace boxcar::dense {

using shape::checkNoOverlap;
using shape::Overlap;
using shape::TensorPointers;
using shape::Written;

// The device of all of [tensors], CPU or Meta. An Error when they are on several.
Device checkSameDevice(TensorPointers tensors);

// An Error when [self], which is written to in place, has elements that share memory, or shares some with [inputs]; or
// when one of them is on another device.
void checkWrittenInPlace(const Tensor& self, TensorPointers inputs);

// Writes results that have been worked out. An out= argument takes the sizes of its result and, where these were
// others, its strides. An Error, and nothing is changed, when one of them cannot take its result, lies to [inputs] as
// [overlap] forbids, or shares memory with another.
void writeAll(std::initializer_list<Written> written, TensorPointers inputs, Overlap overlap);

// The same for one, whose dtype must be the result's.
Tensor& writeSameType(Tensor& out, const Tensor& result, TensorPointers inputs, Overlap overlap = Overlap::kRefused);
// For one of any dtype that the result's can be cast to.
Tensor& writeResult(Tensor& out, const Tensor& result);
// For two.
std::tuple<Tensor&, Tensor&> writeSameTypes(Tensor& first, Tensor& second, const std::tuple<Tensor, Tensor>& results,
                                            TensorPointers inputs, Overlap overlap = Overlap::kRefused);

// Checks [outputs], whose elements a kernel writes where they lie while it reads [inputs], and resizes them.
void prepare(std::initializer_list<shape::Output> outputs, TensorPointers inputs, Overlap overlap);

// Whether the elements of [out] lie in the memory of one of [inputs].
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

  // The same in [out]: where it lies, unless it shares memory with one of [inputs] or has other sizes.
  template <class Fill>
  Tensor& write(Tensor& out, TensorPointers inputs, Fill&& fill) const {
    const shape::Output output{out, sizes, {}, dtype, device};
    shape::checkOutput(output);
    if (output.resizes() || sharesStorage(out, inputs)) return writeSameType(out, make(fill), {});
    if (!out.is_meta()) fill(out);
    out.storage()->bumpVersion();
    return out;
  }
};

}  // namespace boxcar::dense
