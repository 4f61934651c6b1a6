#pragma once

#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/write_out.h>
#include <boxcar/backends/elements/pictures.h>
#include <boxcar/backends/shape/spatial.h>
#include <boxcar/ivalue/tensor.h>

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace boxcar::dense {

using elements::Pictures;

// Those of [tensor], [N, C, H, W] or [C, H, W] or [N, C, W].
inline Pictures picturesOf(const Tensor& tensor, bool channels_last, size_t spatial = 2) {
  const auto sizes = tensor.sizes();
  const size_t first = sizes.size() - spatial;
  Pictures pictures{1, spatial == 2 ? sizes[first] : 1, sizes.back(), channels_last ? sizes[first - 1] : 1};
  for (size_t i = 0; i < first - (channels_last ? 1 : 0); ++i) pictures.outer *= sizes[i];
  return pictures;
}

// [tensor] itself when its elements lie as asked for, else a copy.
inline Tensor inFormat(const Tensor& tensor, bool channels_last) {
  if (!channels_last || tensor.is_meta()) return toContiguous(tensor);
  Tensor result = shape::allocateSpatial(tensor.sizes(), true, tensor.scalar_type(), tensor.device());
  if (std::ranges::equal(result.strides(), tensor.strides())) return tensor;
  copyElements(result, tensor);
  return result;
}

namespace detail {

// Of an output that was resized: its elements are to lie as those of [result].
inline void lieAs(const Tensor& out, const Tensor& result) {
  if (result.is_contiguous()) return;
  out.unsafeGetTensorImpl()->setShape(result.sizes(), result.strides(), out.storage_offset());
  copyElements(out, result);
}

}  // namespace detail

// Writes [result], made of [input], to the out= argument of an operator, as writeSameType() does; when that is resized,
// its elements lie as those of [result].
inline Tensor& writePictures(Tensor& out, const Tensor& result, const Tensor& input) {
  const bool resizes = !std::ranges::equal(out.sizes(), result.sizes());
  writeSameType(out, result, {&input});
  if (resizes) detail::lieAs(out, result);
  return out;
}

// The same for two results.
inline std::tuple<Tensor&, Tensor&> writePictures(Tensor& first, Tensor& second,
                                                  const std::tuple<Tensor, Tensor>& results, const Tensor& input) {
  const bool resizes_first = !std::ranges::equal(first.sizes(), std::get<0>(results).sizes());
  const bool resizes_second = !std::ranges::equal(second.sizes(), std::get<1>(results).sizes());
  writeSameTypes(first, second, results, {&input});
  if (resizes_first) detail::lieAs(first, std::get<0>(results));
  if (resizes_second) detail::lieAs(second, std::get<1>(results));
  return {first, second};
}

}  // namespace boxcar::dense
