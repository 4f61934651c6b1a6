#include <boxcar/backends/meta/factories.h>
#include <boxcar/backends/meta/join.h>
#include <boxcar/backends/meta/promotion.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>

namespace boxcar::meta {

Joined joinAlong(TensorList tensors, int64_t dim) {
  BOXCAR_CHECK(!tensors.empty(), "cat(): expected a non-empty list of Tensors");
  const Tensor* first = nullptr;
  TypePromotion types;
  for (size_t i = 0; i < tensors.size(); ++i) {
    BOXCAR_CHECK(tensors[i].dim() > 0, "zero-dimensional tensor (at position {}) cannot be concatenated", i);
    types.add(tensors[i]);
    if (first == nullptr && !isLegacyEmpty(tensors[i])) first = &tensors[i];
  }
  if (first == nullptr) first = &tensors[0];
  Joined result{toDimVector(first->sizes()), static_cast<size_t>(wrapDimension(dim, first->dim())), types.result(), {}};
  result.sizes[result.dim] = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (isLegacyEmpty(tensor)) continue;
    BOXCAR_CHECK(tensor.dim() == first->dim(), "Tensors must have same number of dimensions: got {} and {}",
                 first->dim(), tensor.dim());
    for (size_t k = 0; k < result.sizes.size(); ++k) {
      BOXCAR_CHECK(k == result.dim || tensor.sizes()[k] == result.sizes[k],
                   "Sizes of tensors must match except in dimension {}. Expected size {} but got size {} for tensor "
                   "number {} in the list.",
                   result.dim, result.sizes[k], tensor.sizes()[k], i);
    }
    BOXCAR_CHECK(
        !__builtin_add_overflow(result.sizes[result.dim], tensor.sizes()[result.dim], &result.sizes[result.dim]),
        "cat(): the tensors have more than 63 bits can count along dimension {}", result.dim);
  }
  const MemoryFormat format = formatOf(tensors[0]);
  const bool agree = std::ranges::all_of(tensors, [&](const Tensor& tensor) { return formatOf(tensor) == format; });
  result.strides = stridesIn(agree ? format : MemoryFormat::Contiguous, result.sizes);
  return result;
}

}  // namespace boxcar::meta
