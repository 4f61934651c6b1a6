#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <optional>
#include <span>

// Products of three tensors.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;

// One product of matrices for the first input, and one of batches for the second.
Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const std::optional<Tensor>& bias) {
  const bool has_bias = bias.has_value() && bias->defined();
  const auto sizes1 = input1.sizes();
  const auto sizes2 = input2.sizes();
  const bool fits = !sizes1.empty() && sizes1.size() == sizes2.size() && weight.dim() == 3 &&
                    std::ranges::equal(sizes1.first(sizes1.size() - 1), sizes2.first(sizes2.size() - 1)) &&
                    sizes1.back() == weight.size(1) && sizes2.back() == weight.size(2) &&
                    (!has_bias || (bias->dim() == 1 && bias->size(0) == weight.size(0)));
  BOXCAR_CHECK(fits,
               "bilinear: expected inputs […, in1] and […, in2], a weight [out, in1, in2] and a bias [out], but got "
               "sizes {}, {}, {} and {}",
               meta::listOf(sizes1), meta::listOf(sizes2), meta::listOf(weight.sizes()),
               has_bias ? meta::listOf(bias->sizes()) : "None");
  const int64_t outputs = weight.size(0);
  const int64_t in1 = weight.size(1);
  const int64_t in2 = weight.size(2);
  int64_t rows = 1;
  for (const int64_t size : sizes1.first(sizes1.size() - 1)) rows *= size;
  const Tensor by_first = boxcar::reshape(boxcar::transpose(weight, 0, 1), dimVector(in1, outputs * in2));
  const Tensor products = boxcar::matmul(boxcar::reshape(input1, dimVector(rows, in1)), by_first);
  Tensor result = boxcar::bmm(boxcar::reshape(products, dimVector(rows, outputs, in2)),
                              boxcar::reshape(input2, dimVector(rows, in2, int64_t{1})));
  DimVector sizes = toDimVector(sizes1);
  sizes.back() = outputs;
  result = boxcar::reshape(result, sizes);
  return has_bias ? boxcar::add(result, *bias) : result;
}

// Returns [tensor] with dimensions of size 1 inserted at [places] of the result, which has [rank] dimensions.
Tensor unsqueezedAt(const Tensor& tensor, IntSpan places, int64_t rank) {
  DimVector sorted;
  for (const int64_t place : places) sorted.push_back(wrapDimension(place, rank));
  std::ranges::sort(sorted);
  BOXCAR_CHECK(std::ranges::adjacent_find(sorted) == sorted.end(),
               "_trilinear: a list of expanded dimensions names one twice: {}", meta::listOf(places));
  Tensor result = tensor;
  for (const int64_t place : sorted) result = boxcar::unsqueeze(result, place);
  return result;
}

Tensor trilinear(const Tensor& i1, const Tensor& i2, const Tensor& i3, IntSpan expand1, IntSpan expand2,
                 IntSpan expand3, IntSpan sumdim, int64_t unroll_dim) {
  const int64_t rank = i1.dim() + static_cast<int64_t>(expand1.size());
  BOXCAR_CHECK(rank > 0 && rank == i2.dim() + static_cast<int64_t>(expand2.size()) &&
                   rank == i3.dim() + static_cast<int64_t>(expand3.size()),
               "_trilinear: expected tensors of as many dimensions with those of expand1, expand2 and expand3, but got "
               "sizes {}, {} and {}",
               meta::listOf(i1.sizes()), meta::listOf(i2.sizes()), meta::listOf(i3.sizes()));
  wrapDimension(unroll_dim, rank);
  const Tensor product = boxcar::mul(boxcar::mul(unsqueezedAt(i1, expand1, rank), unsqueezedAt(i2, expand2, rank)),
                                     unsqueezedAt(i3, expand3, rank));
  // Like PyTorch, sums of integers keep their dtype.
  return sumdim.empty() ? product : boxcar::sum(product, sumdim, /*keepdim=*/false, product.scalar_type());
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) { m.impl("bilinear", BOXCAR_FN(bilinear)); }

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) { m.impl("_trilinear", BOXCAR_FN(trilinear)); }

}  // namespace boxcar::composite
