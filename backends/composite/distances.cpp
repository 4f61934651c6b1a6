#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/meta/matrices.h>
#include <boxcar/backends/meta/promotion.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <optional>

// Distances and angles between vectors.

namespace boxcar::composite {
namespace {

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
  meta::checkCdist(x1, x2, p, compute_mode);
  return boxcar::_cdist_forward(x1, x2, p, compute_mode);
}

Tensor pairwiseDistance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  const int64_t innermost[] = {std::max(x1.dim(), x2.dim()) - 1};
  return boxcar::norm(boxcar::add(boxcar::sub(x1, x2), eps), p, innermost, keepdim);
}

Tensor cosineSimilarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  meta::TypePromotion types;
  types.add(x1);
  types.add(x2);
  BOXCAR_CHECK(isFloatingType(types.result()), "expected common dtype to be floating point, yet common dtype is {}",
               types.result());
  const DimVector sizes = meta::broadcast(x1.sizes(), x2.sizes());
  const int64_t along[] = {dim};
  // float16 cannot represent a number as small as eps.
  const ScalarType type = types.result();
  const bool is_half = type == ScalarType::Half || type == ScalarType::BFloat16;
  const ScalarType computed = is_half ? ScalarType::Float : type;
  // Each vector is divided by its length first, so that the product of two long ones does not overflow.
  const auto normalized = [&](const Tensor& x) {
    const Tensor wide = boxcar::expand(x.scalar_type() == computed ? x : boxcar::to(x, computed), sizes);
    const Tensor length = boxcar::linalg_vector_norm(wide, 2, along, /*keepdim=*/true);
    return boxcar::div(wide, boxcar::clamp_min(length, eps));
  };
  const Tensor cosine = boxcar::sum(boxcar::mul(normalized(x1), normalized(x2)), along);
  return is_half ? boxcar::to(cosine, type) : cosine;
}

// The part above the diagonal of all distances, row by row.
Tensor pdistForward(const Tensor& self, double p) {
  BOXCAR_CHECK(
      self.dim() == 2 && self.is_floating_point() && p >= 0,
      "pdist: expected floats of 2 dimensions and a p that is not negative, but got {} of {} dimensions and {}",
      dtypeName(self.scalar_type()), self.dim(), p);
  const int64_t count = self.size(0);
  // The third mode does not compute distances from products, which are less accurate.
  const Tensor all = boxcar::reshape(boxcar::_cdist_forward(self, self, p, 2), dimVector(count * count));
  const Tensor pairs = boxcar::triu_indices(count, count, 1, ScalarType::Long, std::nullopt, self.device());
  return boxcar::index_select(
      all, 0, boxcar::add(boxcar::mul(boxcar::select(pairs, 0, 0), count), boxcar::select(pairs, 0, 1)));
}
Tensor pdist(const Tensor& self, double p) { return boxcar::_pdist_forward(self, p); }

// |x1 - x2|² is |x1|² - 2 x1 x2 + |x2|², one product of rows that are two elements longer.
Tensor euclideanDist(const Tensor& x1, const Tensor& x2) {
  meta::checkCdist(x1, x2, 2, std::nullopt);
  const int64_t last[] = {-1};
  const auto squared = [&](const Tensor& x) { return boxcar::sum(boxcar::square(x), last, /*keepdim=*/true); };
  const Tensor wide1 = widened(x1);
  const Tensor wide2 = widened(x2);
  const Tensor squares1 = squared(wide1);
  const Tensor squares2 = squared(wide2);
  const Tensor rows1 = boxcar::cat({boxcar::mul(wide1, -2), squares1, boxcar::ones_like(squares1)}, -1);
  const Tensor rows2 = boxcar::cat({wide2, boxcar::ones_like(squares2), squares2}, -1);
  Tensor squares = boxcar::matmul(rows1, boxcar::transpose(rows2, -2, -1));
  return converted(boxcar::sqrt_(boxcar::clamp_min_(squares, 0)), x1.scalar_type());
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("_pdist_forward", BOXCAR_FN(pdistForward));
  m.impl("_euclidean_dist", BOXCAR_FN(euclideanDist));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("pdist", BOXCAR_FN(pdist));
  m.impl("cdist", BOXCAR_FN(cdist));
  m.impl("pairwise_distance", BOXCAR_FN(pairwiseDistance));
  m.impl("cosine_similarity", BOXCAR_FN(cosineSimilarity));
}

}  // namespace boxcar::composite
