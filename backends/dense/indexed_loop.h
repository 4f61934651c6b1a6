#pragma once

#include <boxcar/backends/dense/device_function.h>
#include <boxcar/backends/elements/combination.h>
#include <boxcar/backends/shape/dims.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace boxcar::dense {

using elements::Combination;

// A loop over elements of one tensor, each beside an element of another that an index chooses. What gather, scatter,
// index_select, index and their like have in common:
//
//   IndexedLoop loop = loopAlong(out, self, index, dim);
//   readChosen(self.device(), loop, self.itemsize());
//
// Steps are in bytes. Elements that are chosen by several indices are met in the order of the loop on the CPU, with
// threads too, when the loop writes to what is chosen; on other devices in any order.
struct IndexedLoop {
  DimVector sizes;

  char* beside = nullptr;
  DimVector beside_steps;

  // 0 along the dimensions that the indices stand for.
  char* chosen = nullptr;
  DimVector chosen_steps;

  // int64.
  const char* index = nullptr;
  DimVector index_steps;

  // How far one index leads, and what indices are below; negative ones count from the end if [wraps].
  int64_t step = 1;
  int64_t size = 0;
  bool wraps = false;
  bool writes_chosen = false;

  // What errors name.
  std::string_view name;
  int64_t dim = 0;
};

// Writes what is chosen beside the indices, elements of [itemsize] bytes. An Error when an index is out of range.
using ReadChosen = void(const IndexedLoop& loop, size_t itemsize);
extern DeviceFunction<ReadChosen> readChosen;

// Writes what lies beside to what is chosen. The indices have been checked.
using WriteChosen = void(const IndexedLoop& loop, size_t itemsize);
extern DeviceFunction<WriteChosen> writeChosen;

// Combines what is chosen with [scale] times what lies beside, elements of [type], which is neither float16 nor
// bfloat16. The indices have been checked.
using CombineChosen = void(const IndexedLoop& loop, ScalarType type, Combination how, const Scalar& scale);
extern DeviceFunction<CombineChosen> combineChosen;

// An Error when an index is out of range.
using CheckChosen = void(const IndexedLoop& loop);
extern DeviceFunction<CheckChosen> checkChosen;

// The strides of [tensor] in bytes.
DimVector byteSteps(const Tensor& tensor);

// [tensor] itself, or a view of one dimension when it has none.
Tensor withDimension(const Tensor& tensor);

// A loop over [index] and what lies beside each in [beside], of the same sizes or larger ones: indices stand for
// dimension [dim] of [chosen]. None of the tensors is without dimensions.
IndexedLoop loopAlong(const Tensor& beside, const Tensor& chosen, const Tensor& index, int64_t dim);

// A loop over [beside], for which one-dimensional [index] says where each slice of dimension [dim] lies in [chosen].
IndexedLoop loopOverSlices(const Tensor& beside, const Tensor& chosen, const Tensor& index, int64_t dim);

}  // namespace boxcar::dense
