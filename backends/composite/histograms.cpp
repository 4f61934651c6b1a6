#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

// Histograms: the bin of each element is found among the edges, then the bins are counted.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;
using OptionalTensor = std::optional<Tensor>;
using Ranges = std::optional<std::span<const double>>;

constexpr int64_t kMostBins = int64_t{1} << 40;

void checkBins(int64_t bins, const char* name) {
  BOXCAR_CHECK(bins > 0, "{}: bins must be > 0, but got {}", name, bins);
  BOXCAR_CHECK(bins <= kMostBins, "{}: {} bins are more than {}", name, bins, kMostBins);
}

// Returns the ends of the histogram: those given, or those of the data if both are equal, and [margin] around these if
// they are equal, too.
std::pair<double, double> endsOf(const Tensor& values, double low, double high, double margin, const char* name) {
  if (low == high && values.numel() > 0 && !values.is_meta()) {
    const auto [least, greatest] = boxcar::aminmax(values);
    low = boxcar::item(least).toDouble();
    high = boxcar::item(greatest).toDouble();
  }
  BOXCAR_CHECK(std::isfinite(low) && std::isfinite(high), "{}: range of [{}, {}] is not finite", name, low, high);
  BOXCAR_CHECK(low <= high, "{}: max must be larger than min, but they are {} and {}", name, high, low);
  return low == high ? std::pair(low - margin, high + margin) : std::pair(low, high);
}

Tensor histc(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  checkBins(bins, "histc");
  BOXCAR_CHECK(!self.is_complex() && self.scalar_type() != ScalarType::Bool, "histc: not defined for elements of {}",
               dtypeName(self.scalar_type()));
  const auto [low, high] = endsOf(self, min.toDouble(), max.toDouble(), 1, "histc");
  const Tensor row = boxcar::reshape(self, {-1});
  const Tensor values = boxcar::masked_select(row, boxcar::logical_and(boxcar::ge(row, low), boxcar::le(row, high)));
  // Integers are placed by double, as the ends are.
  const Tensor exact = values.is_floating_point() ? widened(values) : boxcar::to(values, ScalarType::Double);
  const Tensor place = boxcar::div(boxcar::mul(boxcar::sub(exact, low), bins), high - low);
  // The last interval includes its end.
  const Tensor bin = boxcar::clamp(boxcar::to(place, ScalarType::Long), Scalar(0), Scalar(bins - 1));
  return boxcar::to(boxcar::bincount(bin, std::nullopt, bins), self.scalar_type());
}
Tensor& histcOut(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max, Tensor& out) {
  return writeSameType(out, boxcar::histc(self, bins, min, max));
}

void checkPoints(const Tensor& points, size_t coordinates, const OptionalTensor& weight) {
  BOXCAR_CHECK(isFloatingType(points.scalar_type()), "histogramdd: not defined for elements of {}",
               dtypeName(points.scalar_type()));
  BOXCAR_CHECK(points.dim() >= 2, "histogramdd: input tensor should have at least 2 dimensions, but got {}",
               points.dim());
  BOXCAR_CHECK(points.size(-1) == static_cast<int64_t>(coordinates),
               "histogramdd: expected {} sequences of bin edges for a last dimension of size {}, but got {}",
               points.size(-1), points.size(-1), coordinates);
  if (!weight.has_value()) return;
  BOXCAR_CHECK(
      weight->scalar_type() == points.scalar_type(),
      "histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got "
      "input {} and weight {}",
      dtypeName(points.scalar_type()), dtypeName(weight->scalar_type()));
  BOXCAR_CHECK(
      std::ranges::equal(weight->sizes(), points.sizes().first(points.sizes().size() - 1)),
      "histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding its "
      "innermost dimension, but got input with shape [{}], and weight with shape [{}]",
      fmt::join(points.sizes(), ", "), fmt::join(weight->sizes(), ", "));
}

// Returns the number of points, or the sum of their weights, between neighbouring [edges], which are sorted.
Tensor countedPoints(const Tensor& points, const std::vector<Tensor>& edges, const OptionalTensor& weight,
                     bool density) {
  checkPoints(points, edges.size(), weight);
  DimVector shape;
  int64_t bins = 1;
  for (const Tensor& of_one : edges) {
    BOXCAR_CHECK(of_one.dim() == 1 && of_one.numel() > 0 && of_one.scalar_type() == points.scalar_type(),
                 "histogramdd: bin edges must be 1D, non-empty and of dtype {}, but got {} dimensions and dtype {}",
                 dtypeName(points.scalar_type()), of_one.dim(), dtypeName(of_one.scalar_type()));
    shape.push_back(of_one.numel() - 1);
    checkBins(std::max<int64_t>(shape.back(), 1), "histogramdd");
    BOXCAR_CHECK(!__builtin_mul_overflow(bins, shape.back(), &bins) && bins <= kMostBins,
                 "histogramdd: [{}] bins are more than {}", fmt::join(shape, ", "), kMostBins);
  }
  const Tensor rows = boxcar::reshape(points, {-1, static_cast<int64_t>(edges.size())});
  const Tensor weights = weight.has_value() ? boxcar::reshape(*weight, {-1}) : Tensor();
  Tensor bin = boxcar::zeros({rows.size(0)}, ScalarType::Long, std::nullopt, points.device());
  Tensor inside = boxcar::ones({rows.size(0)}, ScalarType::Bool, std::nullopt, points.device());
  for (size_t i = 0; i < edges.size(); ++i) {
    const Tensor values = boxcar::contiguous(boxcar::select(rows, 1, static_cast<int64_t>(i)));
    const Tensor first = boxcar::select(edges[i], 0, 0);
    const Tensor last = boxcar::select(edges[i], 0, -1);
    inside = boxcar::logical_and(inside, boxcar::logical_and(boxcar::ge(values, first), boxcar::le(values, last)));
    const Tensor above = boxcar::searchsorted(boxcar::contiguous(edges[i]), values, false, true);
    const Tensor place = boxcar::clamp(boxcar::sub(above, 1), Scalar(0), Scalar(std::max<int64_t>(shape[i] - 1, 0)));
    bin = boxcar::add(boxcar::mul(bin, shape[i]), place);
  }
  const Tensor kept = boxcar::masked_select(bin, inside);
  Tensor counts;
  if (bins == 0) {
    counts = boxcar::zeros({0}, points.scalar_type(), std::nullopt, points.device());
  } else if (weight.has_value()) {
    counts = boxcar::bincount(kept, boxcar::masked_select(weights, inside), bins);
  } else {
    counts = boxcar::bincount(kept, std::nullopt, bins);
  }
  Tensor result = boxcar::reshape(boxcar::to(counts, points.scalar_type()), shape);
  if (!density) return result;
  result = boxcar::div(result, boxcar::sum(result));
  for (size_t i = 0; i < edges.size(); ++i) {
    DimVector sizes(edges.size(), 1);
    sizes[i] = shape[i];
    result = boxcar::div(result, boxcar::reshape(boxcar::diff(edges[i]), sizes));
  }
  return result;
}

// Returns the edges of [bins] intervals of equal width for each coordinate.
std::vector<Tensor> evenEdges(const Tensor& points, IntSpan bins, const Ranges& range) {
  BOXCAR_CHECK(!range.has_value() || range->size() == 2 * bins.size(),
               "histogramdd: for a {}-dimensional histogram range should have {} elements, but got {}", bins.size(),
               2 * bins.size(), range->size());
  checkPoints(points, bins.size(), std::nullopt);
  std::vector<Tensor> edges;
  for (size_t i = 0; i < bins.size(); ++i) {
    checkBins(bins[i], "histogramdd");
    double low = range.has_value() ? (*range)[2 * i] : 0;
    double high = range.has_value() ? (*range)[2 * i + 1] : 0;
    if (range.has_value() || points.numel() > 0) {
      const Tensor values =
          range.has_value() ? boxcar::zeros({0}) : boxcar::select(points, -1, static_cast<int64_t>(i));
      std::tie(low, high) = endsOf(values, low, high, 0.5, "histogramdd");
    } else {
      high = 1;
    }
    edges.push_back(boxcar::linspace(low, high, bins[i] + 1, points.scalar_type(), std::nullopt, points.device()));
  }
  return edges;
}

// Made of operators that have no formula, so that differentiation says so.
using Histogram = std::tuple<Tensor, std::vector<Tensor>>;

Histogram histogramEdges(const Tensor& self, std::span<const Tensor> bins, Ranges /*range*/,
                         const OptionalTensor& weight, bool density) {
  std::vector<Tensor> edges(bins.begin(), bins.end());
  Tensor counts = boxcar::_histogramdd_from_bin_tensors(self, edges, weight, density);
  for (Tensor& edge : edges) edge = boxcar::clone(edge);
  return {std::move(counts), std::move(edges)};
}
Histogram histogramCounts(const Tensor& self, IntSpan bins, Ranges range, const OptionalTensor& weight, bool density) {
  std::vector<Tensor> edges = boxcar::_histogramdd_bin_edges(self, bins, range, weight, density);
  Tensor counts = boxcar::_histogramdd_from_bin_tensors(self, edges, weight, density);
  return {std::move(counts), std::move(edges)};
}
Histogram histogramCount(const Tensor& self, int64_t bins, Ranges range, const OptionalTensor& weight, bool density) {
  BOXCAR_CHECK(self.dim() > 0, "histogramdd: input tensor should have at least 2 dimensions, but got 0");
  BOXCAR_CHECK(self.size(-1) <= kMaxDims,
               "histogramdd: a point has at most {} coordinates, one for each dimension of the result, but got {}",
               kMaxDims, self.size(-1));
  return histogramCounts(self, std::vector<int64_t>(static_cast<size_t>(self.size(-1)), bins), range, weight, density);
}

std::vector<Tensor> pointEdges(const Tensor& self, IntSpan bins, Ranges range, const OptionalTensor& weight,
                               bool /*density*/) {
  checkPoints(self, bins.size(), weight);
  return evenEdges(self, bins, range);
}
Tensor pointCounts(const Tensor& self, IntSpan bins, Ranges range, const OptionalTensor& weight, bool density) {
  return countedPoints(self, evenEdges(self, bins, range), weight, density);
}
Tensor pointCountsOfEdges(const Tensor& self, std::span<const Tensor> bins, const OptionalTensor& weight,
                          bool density) {
  return countedPoints(self, std::vector<Tensor>(bins.begin(), bins.end()), weight, density);
}

// A histogram of numbers is one of points with one coordinate.
Tensor asPoints(const Tensor& self) { return boxcar::reshape(self, {-1, 1}); }
OptionalTensor asRow(const Tensor& self, const OptionalTensor& weight) {
  if (!weight.has_value()) return weight;
  BOXCAR_CHECK(std::ranges::equal(weight->sizes(), self.sizes()),
               "histogram: weight must have the shape of input, [{}], but has [{}]", fmt::join(self.sizes(), ", "),
               fmt::join(weight->sizes(), ", "));
  return boxcar::reshape(*weight, {-1});
}

std::tuple<Tensor, Tensor> histogramOfEdges(const Tensor& self, const Tensor& bins, const OptionalTensor& weight,
                                            bool density) {
  Tensor counts = countedPoints(asPoints(self), {bins}, asRow(self, weight), density);
  return {std::move(counts), boxcar::clone(bins)};
}
std::tuple<Tensor, Tensor> histogramOfCount(const Tensor& self, int64_t bins, Ranges range,
                                            const OptionalTensor& weight, bool density) {
  const Tensor points = asPoints(self);
  std::vector<Tensor> edges = evenEdges(points, IntSpan(&bins, 1), range);
  Tensor counts = countedPoints(points, edges, asRow(self, weight), density);
  return {std::move(counts), std::move(edges[0])};
}
std::tuple<Tensor&, Tensor&> histogramOfEdgesOut(const Tensor& self, const Tensor& bins, const OptionalTensor& weight,
                                                 bool density, Tensor& hist, Tensor& bin_edges) {
  return writeSameTypes(histogramOfEdges(self, bins, weight, density), hist, bin_edges);
}
std::tuple<Tensor&, Tensor&> histogramOfCountOut(const Tensor& self, int64_t bins, Ranges range,
                                                 const OptionalTensor& weight, bool density, Tensor& hist,
                                                 Tensor& bin_edges) {
  return writeSameTypes(histogramOfCount(self, bins, range, weight, density), hist, bin_edges);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("histc", BOXCAR_FN(histc));
  m.impl("histc.out", BOXCAR_FN(histcOut));
  m.impl("histogram.bins_tensor", BOXCAR_FN(histogramOfEdges));
  m.impl("histogram.bins_tensor_out", BOXCAR_FN(histogramOfEdgesOut));
  m.impl("histogram.bin_ct", BOXCAR_FN(histogramOfCount));
  m.impl("histogram.bin_ct_out", BOXCAR_FN(histogramOfCountOut));
  m.impl("_histogramdd_bin_edges", BOXCAR_FN(pointEdges));
  m.impl("_histogramdd_from_bin_cts", BOXCAR_FN(pointCounts));
  m.impl("_histogramdd_from_bin_tensors", BOXCAR_FN(pointCountsOfEdges));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("histogramdd", BOXCAR_FN(histogramCounts));
  m.impl("histogramdd.int_bins", BOXCAR_FN(histogramCount));
  m.impl("histogramdd.TensorList_bins", BOXCAR_FN(histogramEdges));
}

}  // namespace boxcar::composite
