#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/meta/factories.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/backends/native/grid_sampler.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

// Gradients of sampling images and volumes. Each position of the grid reads some elements, the taps, which are products
// of taps along the dimensions. All is made of operators that can be differentiated again.

namespace boxcar::composite {
namespace {

using Pair = std::tuple<Tensor, Tensor>;
using native::GridPadding;
using native::Interpolation;

// One tap of all positions along one dimension.
struct Tap {
  Tensor index;   // 0 for those outside
  Tensor inside;  // undefined if all are
  Tensor weight;  // undefined if it is 1
  Tensor slope;   // of the weight, as the position grows; undefined as the weight
};

// How positions along a dimension of [size] elements read them.
class SampledDimension final {
 public:
  SampledDimension(int64_t size, Interpolation interpolation, GridPadding padding, bool align_corners,
                   const Tensor& coordinates)
      : size_(size), padding_(padding), align_corners_(align_corners) {
    // The gradient of a position for its coordinate.
    step_ = static_cast<double>(align_corners ? size - 1 : size) / 2;
    Tensor position = boxcar::mul(boxcar::add(coordinates, 1), step_);
    if (!align_corners) position = boxcar::sub(position, 0.5);
    if (interpolation == Interpolation::kCubic) {
      addCubicTaps(position);
    } else if (interpolation == Interpolation::kNearest) {
      addTap(boxcar::round(inside(position)), {}, {});
    } else {
      position = inside(position);
      const Tensor low = boxcar::floor(position);
      const Tensor rest = boxcar::sub(position, low);
      const Tensor one = boxcar::ones_like(rest);
      addTap(low, boxcar::rsub(rest, 1), boxcar::neg(one));
      addTap(boxcar::add(low, 1), rest, one);
    }
  }

  const std::vector<Tap>& taps() const { return taps_; }
  // The gradient for the coordinates from that for the positions.
  Tensor ofCoordinates(const Tensor& gradient) const {
    const Tensor scaled = boxcar::mul(gradient, step_);
    return turns_.defined() ? boxcar::mul(scaled, turns_) : scaled;
  }

 private:
  // Positions inside of the input. Those at the borders and outside have no gradient, and reflected ones may have the
  // opposite one: [turns_].
  Tensor inside(const Tensor& position) {
    if (padding_ == GridPadding::kZeros) return position;
    Tensor place = position;
    if (padding_ == GridPadding::kReflection) place = reflected(position);
    const auto last = static_cast<double>(size_ - 1);
    const Tensor is_free = boxcar::logical_and(boxcar::gt(place, 0), boxcar::lt(place, last));
    turns_ = turns_.defined() ? boxcar::where(is_free, turns_, 0) : boxcar::to(is_free, place.scalar_type());
    return boxcar::where(boxcar::gt(place, 0), boxcar::clamp_max(place, last), 0);
  }
  // At the centres of the first and last elements with align_corners, else at their outer edges.
  Tensor reflected(const Tensor& position) {
    const auto span = static_cast<double>(align_corners_ ? size_ - 1 : size_);
    if (span == 0) {
      turns_ = boxcar::zeros_like(position);
      return turns_;
    }
    const double least = align_corners_ ? 0 : -0.5;
    const Tensor offset = boxcar::sub(position, least);
    const Tensor distance = boxcar::abs(offset);
    const Tensor extra = boxcar::fmod(distance, span);
    const Tensor is_even = boxcar::eq(boxcar::fmod(boxcar::floor(boxcar::div(distance, span)), 2), 0);
    const Tensor is_same = boxcar::eq(is_even, boxcar::ge(offset, 0));
    turns_ = boxcar::sub(boxcar::mul(boxcar::to(is_same, position.scalar_type()), 2), 1);
    return boxcar::add(boxcar::where(is_even, extra, boxcar::rsub(extra, span)), least);
  }

  void addTap(const Tensor& place, Tensor weight, Tensor slope) {
    const Tensor is_inside = boxcar::logical_and(boxcar::ge(place, 0), boxcar::lt(place, static_cast<double>(size_)));
    const Tensor index = boxcar::to(boxcar::where(is_inside, place, 0), ScalarType::Long);
    taps_.push_back({index, is_inside, std::move(weight), std::move(slope)});
  }

  // The weights of cubic convolution with A = -0.75. The taps are padded, and not the position.
  void addCubicTaps(const Tensor& position) {
    constexpr double kA = -0.75;
    const Tensor first = boxcar::floor(position);
    const Tensor t = boxcar::sub(position, first);
    const auto polynomial = [](const Tensor& x, double c3, double c2, double c1, double c0) {
      return boxcar::add(boxcar::mul(boxcar::add(boxcar::mul(boxcar::add(boxcar::mul(x, c3), c2), x), c1), x), c0);
    };
    for (int64_t k = -1; k < 3; ++k) {
      // The distance grows with the position for the first two taps.
      const double sign = k < 1 ? 1 : -1;
      const Tensor x = k < 1 ? boxcar::sub(t, k) : boxcar::rsub(t, k);
      const bool is_near = k == 0 || k == 1;
      const double c3 = is_near ? kA + 2 : kA;
      const double c2 = is_near ? -(kA + 3) : -5 * kA;
      const double c1 = is_near ? 0 : 8 * kA;
      const double c0 = is_near ? 1 : -4 * kA;
      Tensor place = boxcar::add(first, k);
      if (padding_ != GridPadding::kZeros) {
        place = inside(place);
        turns_ = Tensor();
      }
      addTap(place, polynomial(x, c3, c2, c1, c0), polynomial(x, 0, 3 * sign * c3, 2 * sign * c2, sign * c1));
    }
  }

  int64_t size_;
  GridPadding padding_;
  bool align_corners_;
  double step_ = 0;
  Tensor turns_;  // undefined if all are 1
  std::vector<Tap> taps_;
};

Tensor product(const Tensor& a, const Tensor& b) {
  if (!a.defined()) return b;
  return b.defined() ? boxcar::mul(a, b) : a;
}

Pair gridSamplerBackward(std::string_view op, int64_t rank, const Tensor& grad_output, const Tensor& input,
                         const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode, bool align_corners,
                         std::span<const bool> output_mask) {
  BOXCAR_CHECK(output_mask.size() == 2, "{}: output_mask must be 2 bools, but it has {}", op, output_mask.size());
  BOXCAR_CHECK(interpolation_mode >= 0 && interpolation_mode <= 2 && padding_mode >= 0 && padding_mode <= 2,
               "{}: interpolation_mode must be 0 (linear), 1 (nearest) or 2 (cubic), and padding_mode 0 (zeros), 1 "
               "(border) or 2 (reflection), but they are {} and {}",
               op, interpolation_mode, padding_mode);
  const auto sizes = input.sizes();
  const auto of_grid = grid.sizes();
  bool fits = input.dim() == rank + 2 && grid.dim() == rank + 2 && grad_output.dim() == rank + 2 &&
              of_grid[0] == sizes[0] && of_grid.back() == rank && grad_output.size(0) == sizes[0] &&
              grad_output.size(1) == sizes[1];
  for (int64_t i = 0; fits && i < rank; ++i) {
    fits = input.size(i + 2) > 0 && grad_output.size(i + 2) == grid.size(i + 1);
  }
  BOXCAR_CHECK(fits && input.is_floating_point() && grid.scalar_type() == input.scalar_type() &&
                   grad_output.scalar_type() == input.scalar_type(),
               "{}: expected grad_output, input and grid of one floating-point dtype and of sizes that fit, but got {} "
               "of size {}, {} of size {} and {} of size {}",
               op, dtypeName(grad_output.scalar_type()), meta::listOf(grad_output.sizes()),
               dtypeName(input.scalar_type()), meta::listOf(sizes), dtypeName(grid.scalar_type()),
               meta::listOf(of_grid));
  const ScalarType type = input.scalar_type();
  const auto interpolation = static_cast<Interpolation>(interpolation_mode);
  const bool needs_grid = output_mask[1] && interpolation != Interpolation::kNearest;
  const int64_t samples = sizes[0];
  const int64_t channels = sizes[1];
  const int64_t elements = numelOf(sizes.subspan(2));
  const int64_t places = numelOf(of_grid.subspan(1, static_cast<size_t>(rank)));
  const int64_t count = samples * places;

  // A row of channels for each element of the input, and for each position.
  const auto rowsOf = [&](const Tensor& images, int64_t rows) {
    return boxcar::reshape(boxcar::movedim(widened(images), 1, -1), dimVector(rows, channels));
  };
  const Tensor gradient = rowsOf(grad_output, count);
  const Tensor coordinates = boxcar::reshape(widened(grid), dimVector(count, rank));
  std::vector<SampledDimension> axes;
  for (int64_t i = 0; i < rank; ++i) {
    axes.emplace_back(input.size(i + 2), interpolation, static_cast<GridPadding>(padding_mode), align_corners,
                      boxcar::select(coordinates, 1, rank - 1 - i));  // x comes first
  }
  const Tensor numbers = boxcar::arange(samples, ScalarType::Long, std::nullopt, input.device());
  const Tensor starts =
      boxcar::reshape(boxcar::expand(boxcar::unsqueeze(boxcar::mul(numbers, elements), 1), dimVector(samples, places)),
                      dimVector(count));
  const Tensor rows = needs_grid ? rowsOf(input, samples * elements) : Tensor();

  Tensor of_input;
  std::vector<Tensor> of_positions(static_cast<size_t>(rank));
  const auto tap_count = static_cast<int64_t>(axes[0].taps().size());
  int64_t combinations = 1;
  for (int64_t i = 0; i < rank; ++i) combinations *= tap_count;
  for (int64_t combination = 0; combination < combinations; ++combination) {
    std::vector<const Tap*> taps;
    int64_t left = combination;
    for (int64_t i = 0; i < rank; ++i) {
      taps.push_back(&axes[static_cast<size_t>(i)].taps()[static_cast<size_t>(left % tap_count)]);
      left /= tap_count;
    }
    Tensor index;
    Tensor inside;
    for (size_t i = 0; i < taps.size(); ++i) {
      index = i == 0 ? taps[i]->index : boxcar::add(boxcar::mul(index, sizes[i + 2]), taps[i]->index);
      inside = i == 0 ? taps[i]->inside : boxcar::logical_and(inside, taps[i]->inside);
    }
    index = boxcar::add(index, starts);
    const Tensor outside = boxcar::logical_not(inside);
    if (output_mask[0]) {
      Tensor weight;
      for (const Tap* tap : taps) weight = product(weight, tap->weight);
      const Tensor parts =
          boxcar::masked_fill(weight.defined() ? boxcar::mul(gradient, boxcar::unsqueeze(weight, 1)) : gradient,
                              boxcar::unsqueeze(outside, 1), 0);
      const Tensor sums = boxcar::embedding_dense_backward(parts, index, samples * elements, -1, false);
      of_input = of_input.defined() ? boxcar::add(of_input, sums) : sums;
    }
    if (!needs_grid) continue;
    const int64_t dims[] = {1};
    const Tensor change =
        boxcar::masked_fill(boxcar::sum(boxcar::mul(gradient, boxcar::embedding(rows, index)), dims), outside, 0);
    for (size_t i = 0; i < taps.size(); ++i) {
      Tensor part = boxcar::mul(change, taps[i]->slope);
      for (size_t k = 0; k < taps.size(); ++k) {
        if (k != i) part = boxcar::mul(part, taps[k]->weight);
      }
      of_positions[i] = of_positions[i].defined() ? boxcar::add(of_positions[i], part) : part;
    }
  }

  Pair result;
  if (output_mask[0]) {
    DimVector moved = dimVector(samples);
    for (const int64_t size : sizes.subspan(2)) moved.push_back(size);
    moved.push_back(channels);
    const Tensor whole = boxcar::movedim(boxcar::reshape(of_input, moved), -1, 1);
    std::get<0>(result) = boxcar::contiguous(converted(whole, type));
  }
  if (needs_grid) {
    std::vector<Tensor> columns;
    for (int64_t i = rank - 1; i >= 0; --i) {
      const auto at = static_cast<size_t>(i);
      columns.push_back(axes[at].ofCoordinates(of_positions[at]));
    }
    std::get<1>(result) = boxcar::reshape(converted(boxcar::stack(columns, 1), type), of_grid);
  } else if (output_mask[1]) {
    std::get<1>(result) = boxcar::zeros(of_grid, type, std::nullopt, grid.device());
  }
  return result;
}

Pair gridSampler2dBackward(const Tensor& grad_output, const Tensor& input, const Tensor& grid,
                           int64_t interpolation_mode, int64_t padding_mode, bool align_corners,
                           std::span<const bool> output_mask) {
  return gridSamplerBackward("grid_sampler_2d_backward", 2, grad_output, input, grid, interpolation_mode, padding_mode,
                             align_corners, output_mask);
}
Pair gridSampler3dBackward(const Tensor& grad_output, const Tensor& input, const Tensor& grid,
                           int64_t interpolation_mode, int64_t padding_mode, bool align_corners,
                           std::span<const bool> output_mask) {
  return gridSamplerBackward("grid_sampler_3d_backward", 3, grad_output, input, grid, interpolation_mode, padding_mode,
                             align_corners, output_mask);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("grid_sampler_2d_backward", BOXCAR_FN(gridSampler2dBackward));
  m.impl("grid_sampler_3d_backward", BOXCAR_FN(gridSampler3dBackward));
}

}  // namespace boxcar::composite
