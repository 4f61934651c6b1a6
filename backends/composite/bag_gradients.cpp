#include <boxcar/backends/composite/bags.h>
#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/meta/defined.h>
#include <boxcar/backends/meta/normalization.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <optional>
#include <string_view>

// Gradients of embeddings and of bags of them.

namespace boxcar::composite {
namespace {

using OptionalTensor = std::optional<Tensor>;

// There are no sparse tensors: the gradient is dense.
Tensor embeddingBackward(const Tensor& grad, const Tensor& indices, int64_t num_weights, int64_t padding_idx,
                         bool scale_grad_by_freq, bool /*sparse*/) {
  return boxcar::embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq);
}

void checkBagGradient(std::string_view op, const Tensor& grad, const Tensor& indices, int64_t mode) {
  BOXCAR_CHECK(grad.dim() == 2 && grad.is_floating_point(),
               "{}: grad must be floats with a row for each bag, but it is {} of size {}", op,
               dtypeName(grad.scalar_type()), meta::listOf(grad.sizes()));
  BOXCAR_CHECK(indices.dim() == 1, "{}: indices must have one dimension, but they are of size {}", op,
               meta::listOf(indices.sizes()));
  BOXCAR_CHECK(mode >= 0 && mode <= 2, "{}: mode must be 0 (sum), 1 (mean) or 2 (max), but it is {}", op, mode);
}

Tensor bagDenseBackward(const Tensor& grad, const Tensor& indices, const Tensor& offset2bag, const Tensor& bag_size,
                        const Tensor& maximum_indices, int64_t num_weights, bool scale_grad_by_freq, int64_t mode,
                        const OptionalTensor& per_sample_weights, int64_t padding_idx) {
  constexpr std::string_view kName = "_embedding_bag_dense_backward";
  checkBagGradient(kName, grad, indices, mode);
  for (const Tensor* given : {&offset2bag, &bag_size, &maximum_indices}) meta::checkDefined(*given);
  const auto kind = static_cast<BagMode>(mode);
  const Tensor wide = widened(grad);
  if (kind == BagMode::kMax) {
    BOXCAR_CHECK(maximum_indices.sizes().size() == 2 && maximum_indices.numel() == grad.numel(),
                 "{}: maximum_indices must be of the size {} of grad, but they are of size {}", kName,
                 meta::listOf(grad.sizes()), meta::listOf(maximum_indices.sizes()));
    // An empty bag has no maximum.
    const Tensor parts = boxcar::masked_fill(wide, boxcar::unsqueeze(boxcar::eq(bag_size, 0), 1), 0);
    const Tensor zeros =
        boxcar::zeros(dimVector(num_weights, grad.size(1)), wide.scalar_type(), std::nullopt, grad.device());
    if (parts.numel() == 0) return converted(zeros, grad.scalar_type());
    return converted(boxcar::scatter_add(zeros, 0, boxcar::to(maximum_indices, ScalarType::Long), parts),
                     grad.scalar_type());
  }
  BOXCAR_CHECK(offset2bag.numel() == indices.numel(),
               "{}: offset2bag must say the bag of each of {} indices, but it is of size {}", kName, indices.numel(),
               meta::listOf(offset2bag.sizes()));
  const Tensor per_bag =
      kind == BagMode::kMean ? boxcar::div(wide, boxcar::unsqueeze(boxcar::clamp_min(bag_size, 1), 1)) : wide;
  Tensor rows = boxcar::index_select(per_bag, 0, offset2bag);
  if (const Tensor* const given = meta::givenTensor(per_sample_weights)) {
    BOXCAR_CHECK(kind == BagMode::kSum && given->numel() == indices.numel(),
                 "{}: per_sample_weights must be one for each of {} indices, and are for mode 0 (sum) only, but they "
                 "are of size {} with mode {}",
                 kName, indices.numel(), meta::listOf(given->sizes()), mode);
    rows = boxcar::mul(rows, boxcar::unsqueeze(widened(*given), 1));
  }
  return converted(boxcar::embedding_dense_backward(rows, indices, num_weights, padding_idx, scale_grad_by_freq),
                   grad.scalar_type());
}

// A sum does not always report the bags.
Tensor bagsFrom(const Tensor& offset2bag, const Tensor& offsets, int64_t count, int64_t bags) {
  return offset2bag.numel() == count ? offset2bag : bagsOf(offsets, count, bags);
}

Tensor bagBackward(const Tensor& grad, const Tensor& indices, const Tensor& offsets, const Tensor& offset2bag,
                   const Tensor& bag_size, const Tensor& maximum_indices, int64_t num_weights, bool scale_grad_by_freq,
                   int64_t mode, bool /*sparse*/, const OptionalTensor& per_sample_weights, int64_t padding_idx) {
  checkBagGradient("_embedding_bag_backward", grad, indices, mode);
  for (const Tensor* given : {&offsets, &offset2bag, &bag_size, &maximum_indices}) meta::checkDefined(*given);
  return boxcar::_embedding_bag_dense_backward(
      grad, indices, bagsFrom(offset2bag, offsets, indices.numel(), grad.size(0)), bag_size, maximum_indices,
      num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx);
}

// The product of the gradient of an index' bag and the row that it takes.
Tensor bagWeightsBackward(const Tensor& grad, const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                          const Tensor& offset2bag, int64_t mode, int64_t padding_idx) {
  constexpr std::string_view kName = "_embedding_bag_per_sample_weights_backward";
  checkBagGradient(kName, grad, indices, mode);
  for (const Tensor* given : {&offsets, &offset2bag}) meta::checkDefined(*given);
  BOXCAR_CHECK(static_cast<BagMode>(mode) == BagMode::kSum, "{}: mode must be 0 (sum), but it is {}", kName, mode);
  BOXCAR_CHECK(weight.dim() == 2 && weight.size(1) == grad.size(1),
               "{}: weight must have rows as long as those of grad, but they are of size {} and {}", kName,
               meta::listOf(weight.sizes()), meta::listOf(grad.sizes()));
  const Tensor bags = bagsFrom(offset2bag, offsets, indices.numel(), grad.size(0));
  const Tensor products =
      boxcar::mul(boxcar::index_select(widened(grad), 0, bags), boxcar::index_select(widened(weight), 0, indices));
  const int64_t dims[] = {1};
  const Tensor sums = boxcar::sum(products, dims);
  return converted(boxcar::masked_fill(sums, boxcar::eq(indices, padding_idx), 0), grad.scalar_type());
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) { m.impl("embedding_backward", BOXCAR_FN(embeddingBackward)); }

// Like PyTorch, these cannot be differentiated.
BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("_embedding_bag_backward", BOXCAR_FN(bagBackward));
  m.impl("_embedding_bag_dense_backward", BOXCAR_FN(bagDenseBackward));
  m.impl("_embedding_bag_per_sample_weights_backward", BOXCAR_FN(bagWeightsBackward));
}

}  // namespace boxcar::composite
