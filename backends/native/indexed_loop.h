#pragma once

#include <boxcar/backends/functors/combination.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace boxcar::native {

using functors::Combination;

// A loop over pairs of an element of one tensor ("beside") and an element of another that an index chooses ("chosen").
// Shared by gather, scatter, index_select, index and similar operators:
//
//   IndexedLoop loop = loopAlong(out, self, index, dim);
//   readChosen(self.device(), loop, self.itemsize());
//
// Steps are in bytes. If several indices choose the same element to write, the CPU visits them in loop order, even with
// threads; other devices use any order.
struct IndexedLoop {
  DimVector sizes;

  char* beside = nullptr;
  DimVector beside_steps;

  // The steps are 0 along the indexed dimensions.
  char* chosen = nullptr;
  DimVector chosen_steps;

  // int64.
  const char* index = nullptr;
  DimVector index_steps;

  // The bytes per index step, and the bound of indices; negative indices count from the end if [wraps].
  int64_t step = 1;
  int64_t size = 0;
  bool wraps = false;
  bool writes_chosen = false;

  // For error messages.
  std::string_view name;
  int64_t dim = 0;
};

// Copies the chosen elements, of [itemsize] bytes, to the elements beside them. Throws Error if an index is out of
// range.
using ReadChosen = void(const IndexedLoop& loop, size_t itemsize);
extern DeviceStub<ReadChosen> readChosen;

// Copies the elements beside to the chosen elements. The indices must have been checked.
using WriteChosen = void(const IndexedLoop& loop, size_t itemsize);
extern DeviceStub<WriteChosen> writeChosen;

// Combines the chosen elements with [scale] times the elements beside them; [type] is neither float16 nor bfloat16. The
// indices must have been checked.
using CombineChosen = void(const IndexedLoop& loop, ScalarType type, Combination how, const Scalar& scale);
extern DeviceStub<CombineChosen> combineChosen;

// Throws Error if an index is out of range.
using CheckChosen = void(const IndexedLoop& loop);
extern DeviceStub<CheckChosen> checkChosen;

// Returns the strides of [tensor] in bytes.
DimVector byteSteps(const Tensor& tensor);

// Returns [tensor], or a one-dimensional view of it if it has no dimensions.
Tensor withDimension(const Tensor& tensor);

// Returns a loop over [index] and the elements of [beside], which has the same or larger sizes; the indices choose
// along dimension [dim] of [chosen]. All tensors have at least one dimension.
IndexedLoop loopAlong(const Tensor& beside, const Tensor& chosen, const Tensor& index, int64_t dim);

// Returns a loop over [beside]; the one-dimensional [index] gives the position in [chosen] of each slice of dimension
// [dim].
IndexedLoop loopOverSlices(const Tensor& beside, const Tensor& chosen, const Tensor& index, int64_t dim);

}  // namespace boxcar::native
