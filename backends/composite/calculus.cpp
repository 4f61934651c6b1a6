#include <boxcar/backends/meta/defined.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

// Integrals and derivatives of functions that are given by samples.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;

// Returns the sums of neighbouring elements along [dim].
Tensor pairSums(const Tensor& self, int64_t dim) {
  return boxcar::add(boxcar::slice(self, dim, 1, std::nullopt), boxcar::slice(self, dim, 0, -1));
}

Tensor zerosWithout(const Tensor& y, int64_t dim) {
  DimVector sizes = toDimVector(y.sizes());
  sizes.erase(sizes.begin() + wrapDimension(dim, y.dim()));
  return boxcar::zeros(sizes, y.scalar_type(), std::nullopt, y.device());
}

// Returns the distances of the places [x], in the dimension [dim] of [y].
Tensor distancesAt(const Tensor& y, const Tensor& x, int64_t dim, const char* name) {
  if (x.dim() == 1) {
    BOXCAR_CHECK(
        x.size(0) == y.size(dim),
        "{}: There must be one `x` value for each sample point, but x has {} elements, and dimension {} of y {}", name,
        x.size(0), dim, y.size(dim));
    DimVector sizes(static_cast<size_t>(y.dim()), 1);
    sizes[static_cast<size_t>(wrapDimension(dim, y.dim()))] = x.size(0) - 1;
    return boxcar::view(boxcar::sub(boxcar::slice(x, 0, 1, std::nullopt), boxcar::slice(x, 0, 0, -1)), sizes);
  }
  BOXCAR_CHECK(x.dim() <= y.dim(), "{}: x must have at most as many dimensions as y, {}, but it has {}", name, y.dim(),
               x.dim());
  // Fewer dimensions are those at the end, as in broadcasting.
  DimVector sizes(static_cast<size_t>(y.dim() - x.dim()), 1);
  sizes.insert(sizes.end(), x.sizes().begin(), x.sizes().end());
  const Tensor places = boxcar::reshape(x, sizes);
  return boxcar::sub(boxcar::slice(places, dim, 1, std::nullopt), boxcar::slice(places, dim, 0, -1));
}

void checkSamples(const Tensor& y, const char* name) {
  BOXCAR_CHECK(y.dim() > 0, "{}: expected samples along a dimension, but y has none", name);
  BOXCAR_CHECK(y.scalar_type() != ScalarType::Bool,
               "{}: received a bool input for `x` or `y`, but bool is not supported", name);
}

Tensor trapezoidX(const Tensor& y, const Tensor& x, int64_t dim) {
  checkSamples(y, "trapezoid");
  if (y.size(dim) == 0) return zerosWithout(y, dim);
  checkSamples(x, "trapezoid");
  const Tensor areas = boxcar::mul(distancesAt(y, x, dim, "trapezoid"), pairSums(y, dim));
  return boxcar::div(boxcar::sum(areas, {{dim}}), 2.0);
}

Tensor trapezoidDx(const Tensor& y, const Scalar& dx, int64_t dim) {
  checkSamples(y, "trapezoid");
  if (y.size(dim) == 0) return zerosWithout(y, dim);
  BOXCAR_CHECK(!dx.isBoolean(), "trapezoid: Currently, we only support dx as a real number.");
  // The inner elements count twice.
  const Tensor ends = boxcar::add(boxcar::select(y, dim, 0), boxcar::select(y, dim, -1));
  const Tensor twice = boxcar::sub(boxcar::mul(boxcar::sum(y, {{dim}}), 2), ends);
  return boxcar::mul(boxcar::div(twice, 2.0), dx);
}

Tensor trapzDx(const Tensor& y, double dx, int64_t dim) { return trapezoidDx(y, dx, dim); }

Tensor cumulativeTrapezoidX(const Tensor& y, const Tensor& x, int64_t dim) {
  checkSamples(y, "cumulative_trapezoid");
  checkSamples(x, "cumulative_trapezoid");
  const Tensor areas = boxcar::mul(distancesAt(y, x, dim, "cumulative_trapezoid"), pairSums(y, dim));
  return boxcar::div(boxcar::cumsum(areas, dim), 2.0);
}

Tensor cumulativeTrapezoidDx(const Tensor& y, const Scalar& dx, int64_t dim) {
  checkSamples(y, "cumulative_trapezoid");
  const Scalar half = dx.isComplex() ? Scalar(dx.toComplexDouble() / 2.0) : Scalar(dx.toDouble() / 2);
  return boxcar::cumsum(boxcar::mul(pairSums(y, dim), half), dim);
}

// How far apart the samples along a dimension are.
struct Spacing {
  Scalar distance = 1;
  Tensor places;  // if defined, they are here
};

void checkGradient(const Tensor& self, IntSpan dims, size_t spacings, int64_t edge_order) {
  BOXCAR_CHECK(self.dim() > 0, "torch.gradient expected samples along a dimension, but self has none");
  BOXCAR_CHECK(edge_order == 1 || edge_order == 2,
               "torch.gradient only supports edge_order=1 and edge_order=2, but got {}", edge_order);
  BOXCAR_CHECK(self.scalar_type() != ScalarType::Byte, "torch.gradient does not support uint8 input.");
  BOXCAR_CHECK(spacings == dims.size(),
               "torch.gradient expected spacing to have one element for each of the {} dimensions, but got {}",
               dims.size(), spacings);
  std::vector<bool> seen(static_cast<size_t>(self.dim()));
  for (const int64_t dim : dims) {
    const auto at = static_cast<size_t>(wrapDimension(dim, self.dim()));
    BOXCAR_CHECK(!seen[at], "dim {} appears multiple times in the list of dims", dim);
    seen[at] = true;
    BOXCAR_CHECK(
        self.size(dim) >= edge_order + 1,
        "torch.gradient expected each dimension size to be at least edge_order+1, but dimension {} has size {}", dim,
        self.size(dim));
  }
}

Tensor part(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  return boxcar::narrow(self, dim, start < 0 ? self.size(dim) + start : start, length);
}

// Differences with the second-order error at equal distances.
Tensor evenGradient(const Tensor& self, int64_t dim, const Scalar& distance, int64_t edge_order) {
  const int64_t size = self.size(dim);
  const Tensor inner = boxcar::div(boxcar::sub(part(self, dim, 2, size - 2), part(self, dim, 0, size - 2)), 2.0);
  const auto end = [&](int64_t at, int64_t step) {
    const Tensor first = part(self, dim, at, 1);
    const Tensor second = part(self, dim, at + step, 1);
    if (edge_order == 1) return boxcar::mul(boxcar::sub(second, first), step);
    const Tensor third = part(self, dim, at + 2 * step, 1);
    const Tensor sum =
        boxcar::sub(boxcar::sub(boxcar::mul(second, 2.0), boxcar::mul(first, 1.5)), boxcar::mul(third, 0.5));
    return boxcar::mul(sum, step);
  };
  const Tensor parts[] = {end(0, 1), inner, end(-1, -1)};
  return boxcar::div(boxcar::cat(parts, dim), distance);
}

// Differences at the places [x], which need not be equally far apart.
Tensor unevenGradient(const Tensor& self, int64_t dim, const Tensor& x, int64_t edge_order) {
  BOXCAR_CHECK(x.dim() == 1,
               "torch.gradient expected each element of spacing to have one dimension, but got an element "
               "with {} dimensions",
               x.dim());
  const int64_t size = self.size(dim);
  BOXCAR_CHECK(x.numel() == size, "torch.gradient expected the spacing of dimension {} to have {} elements, but got {}",
               dim, size, x.numel());
  DimVector shape(static_cast<size_t>(self.dim()), 1);
  shape[static_cast<size_t>(dim)] = size - 1;
  const Tensor h = boxcar::reshape(boxcar::sub(part(x, 0, 1, size - 1), part(x, 0, 0, size - 1)), shape);
  const Tensor before = part(h, dim, 0, size - 2);
  const Tensor after = part(h, dim, 1, size - 2);
  const Tensor both = boxcar::add(before, after);
  const Tensor a = boxcar::div(boxcar::neg(after), boxcar::mul(before, both));
  const Tensor b = boxcar::div(boxcar::sub(after, before), boxcar::mul(before, after));
  const Tensor c = boxcar::div(before, boxcar::mul(after, both));
  const Tensor inner = boxcar::add(
      boxcar::add(boxcar::mul(a, part(self, dim, 0, size - 2)), boxcar::mul(b, part(self, dim, 1, size - 2))),
      boxcar::mul(c, part(self, dim, 2, size - 2)));
  // [at] is the end, [gap] its distance to the next sample, and [next_gap] the one after it; backwards with [step] -1.
  const auto end = [&](int64_t at, int64_t step) {
    const Tensor gap = part(h, dim, at, 1);
    const Tensor first = part(self, dim, at, 1);
    const Tensor second = part(self, dim, at + step, 1);
    Tensor slope = boxcar::div(boxcar::mul(boxcar::sub(second, first), step), gap);
    if (edge_order == 1) return slope;
    const Tensor next_gap = part(h, dim, at + step, 1);
    const Tensor third = part(self, dim, at + 2 * step, 1);
    const Tensor total = boxcar::add(gap, next_gap);
    const Tensor p = boxcar::div(boxcar::neg(boxcar::add(boxcar::mul(gap, 2), next_gap)), boxcar::mul(gap, total));
    const Tensor q = boxcar::div(total, boxcar::mul(gap, next_gap));
    const Tensor r = boxcar::div(boxcar::neg(gap), boxcar::mul(next_gap, total));
    const Tensor sum = boxcar::add(boxcar::add(boxcar::mul(p, first), boxcar::mul(q, second)), boxcar::mul(r, third));
    return boxcar::mul(sum, step);
  };
  const Tensor parts[] = {end(0, 1), inner, end(-1, -1)};
  return boxcar::cat(parts, dim);
}

std::vector<Tensor> gradient(const Tensor& self, IntSpan dims, const std::vector<Spacing>& spacing,
                             int64_t edge_order) {
  meta::checkDefined(self);
  checkGradient(self, dims, spacing.size(), edge_order);
  std::vector<Tensor> results;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = wrapDimension(dims[i], self.dim());
    results.push_back(spacing[i].places.defined() ? unevenGradient(self, dim, spacing[i].places, edge_order)
                                                  : evenGradient(self, dim, spacing[i].distance, edge_order));
  }
  return results;
}

// Returns [dim], or all dimensions.
std::vector<int64_t> dimsOf(const Tensor& self, std::optional<int64_t> dim) {
  meta::checkDefined(self);
  if (dim.has_value()) return {*dim};
  std::vector<int64_t> all(static_cast<size_t>(self.dim()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<Spacing> distancesOf(const List<Scalar>& distances) {
  std::vector<Spacing> spacing;
  for (const Scalar distance : distances) spacing.push_back({distance, {}});
  return spacing;
}
std::vector<Spacing> placesOf(std::span<const Tensor> places) {
  std::vector<Spacing> spacing;
  for (const Tensor& place : places) {
    meta::checkDefined(place);
    spacing.push_back({1, place});
  }
  return spacing;
}

std::vector<Tensor> gradientScalarInt(const Tensor& self, const std::optional<Scalar>& spacing,
                                      std::optional<int64_t> dim, int64_t edge_order) {
  const std::vector<int64_t> dims = dimsOf(self, dim);
  return gradient(self, dims, std::vector<Spacing>(dims.size(), {spacing.value_or(1), {}}), edge_order);
}
std::vector<Tensor> gradientScalarArray(const Tensor& self, const Scalar& spacing, IntSpan dim, int64_t edge_order) {
  return gradient(self, dim, std::vector<Spacing>(dim.size(), {spacing, {}}), edge_order);
}
std::vector<Tensor> gradientArray(const Tensor& self, IntSpan dim, int64_t edge_order) {
  return gradient(self, dim, std::vector<Spacing>(dim.size()), edge_order);
}
std::vector<Tensor> gradientScalarsInt(const Tensor& self, const List<Scalar>& spacing, std::optional<int64_t> dim,
                                       int64_t edge_order) {
  return gradient(self, dimsOf(self, dim), distancesOf(spacing), edge_order);
}
std::vector<Tensor> gradientScalars(const Tensor& self, const List<Scalar>& spacing, IntSpan dim, int64_t edge_order) {
  return gradient(self, dim, distancesOf(spacing), edge_order);
}
std::vector<Tensor> gradientTensorsInt(const Tensor& self, std::span<const Tensor> spacing, std::optional<int64_t> dim,
                                       int64_t edge_order) {
  return gradient(self, dimsOf(self, dim), placesOf(spacing), edge_order);
}
std::vector<Tensor> gradientTensors(const Tensor& self, std::span<const Tensor> spacing, IntSpan dim,
                                    int64_t edge_order) {
  return gradient(self, dim, placesOf(spacing), edge_order);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("trapezoid.x", BOXCAR_FN(trapezoidX));
  m.impl("trapezoid.dx", BOXCAR_FN(trapezoidDx));
  m.impl("trapz.x", BOXCAR_FN(trapezoidX));
  m.impl("trapz.dx", BOXCAR_FN(trapzDx));
  m.impl("cumulative_trapezoid.x", BOXCAR_FN(cumulativeTrapezoidX));
  m.impl("cumulative_trapezoid.dx", BOXCAR_FN(cumulativeTrapezoidDx));
  m.impl("gradient.scalarint", BOXCAR_FN(gradientScalarInt));
  m.impl("gradient.scalararray", BOXCAR_FN(gradientScalarArray));
  m.impl("gradient.array", BOXCAR_FN(gradientArray));
  m.impl("gradient.scalarrayint", BOXCAR_FN(gradientScalarsInt));
  m.impl("gradient.scalarrayarray", BOXCAR_FN(gradientScalars));
  m.impl("gradient.tensorarrayint", BOXCAR_FN(gradientTensorsInt));
  m.impl("gradient.tensorarray", BOXCAR_FN(gradientTensors));
}

}  // namespace boxcar::composite
