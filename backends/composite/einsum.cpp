#include <boxcar/backends/composite/einsum_equation.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace boxcar::composite {
namespace {

constexpr int kEllipsis = EinsumEquation::kEllipsis;

// How operands are laid out so that their dimensions match: first the dimensions of the result, in order, then the
// summed ones. Each label has one place; the ellipsis has as many as it has dimensions.
struct EinsumLayout {
  std::array<int64_t, EinsumEquation::kLetters + 1> place;
  int64_t ellipsis_rank = 0;
  int64_t result_rank = 0;
  int64_t rank = 0;

  EinsumLayout(const EinsumEquation& equation, TensorList operands) {
    place.fill(-1);
    for (size_t i = 0; i < operands.size(); ++i) {
      const std::vector<int>& labels = equation.operands[i];
      const auto letters = static_cast<int64_t>(labels.size());
      const bool has_ellipsis = std::ranges::find(labels, kEllipsis) != labels.end();
      const int64_t extra = operands[i].dim() - (letters - (has_ellipsis ? 1 : 0));
      BOXCAR_CHECK(
          has_ellipsis ? extra >= 0 : extra == 0,
          "einsum(): the number of subscripts in the equation ({}) {} the number of dimensions ({}) for operand "
          "{}{}",
          letters - (has_ellipsis ? 1 : 0), has_ellipsis ? "is more than" : "does not match", operands[i].dim(), i,
          has_ellipsis ? "" : " and no ellipsis was given");
      if (has_ellipsis) ellipsis_rank = std::max(ellipsis_rank, extra);
    }
    for (const int label : equation.result) give(label);
    result_rank = rank;
    for (const std::vector<int>& labels : equation.operands) {
      for (const int label : labels) {
        if (place[static_cast<size_t>(label)] == -1) give(label);
      }
    }
  }

  void give(int label) {
    place[static_cast<size_t>(label)] = rank;
    rank += label == kEllipsis ? ellipsis_rank : 1;
  }
};

// Returns [operand] with its dimensions in the places given by [layout]; missing dimensions get size 1. If dimensions
// share a label, only their diagonal is kept.
Tensor arranged(const Tensor& operand, size_t index, const std::vector<int>& labels, const EinsumLayout& layout) {
  std::array<int64_t, EinsumEquation::kLetters> seen;
  seen.fill(-1);
  DimVector places(static_cast<size_t>(layout.rank), -1);
  Tensor result = operand;
  int64_t dim = 0;
  for (const int label : labels) {
    const int64_t place = layout.place[static_cast<size_t>(label)];
    if (label == kEllipsis) {
      // Broadcasting aligns the last dimensions.
      const int64_t count = operand.dim() - static_cast<int64_t>(labels.size()) + 1;
      for (int64_t i = 0; i < count; ++i) {
        places[static_cast<size_t>(place + layout.ellipsis_rank - count + i)] = dim++;
      }
      continue;
    }
    int64_t& first = seen[static_cast<size_t>(label)];
    if (first == -1) {
      first = dim;
      places[static_cast<size_t>(place)] = dim++;
      continue;
    }
    BOXCAR_CHECK(result.size(first) == result.size(dim),
                 "einsum(): subscript {} is repeated for operand {} but the sizes don't match, {} != {}",
                 letterOf(label), index, result.size(dim), result.size(first));
    // The diagonal becomes the last dimension and is moved back to the first one's position.
    result = boxcar::movedim(boxcar::diagonal(result, 0, first, dim), -1, first);
  }
  DimVector order;
  for (int64_t& place : places) {
    if (place == -1) {
      result = boxcar::unsqueeze(result, dim);
      place = dim++;
    }
    order.push_back(place);
  }
  return boxcar::permute(result, order);
}

// Checks that the sizes of all operands match; size 1 matches any size.
void checkSizes(const std::vector<Tensor>& operands, int64_t rank) {
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t common = 1;
    for (size_t i = 0; i < operands.size(); ++i) {
      const int64_t size = operands[i].size(dim);
      BOXCAR_CHECK(size == 1 || common == 1 || size == common,
                   "einsum(): operands do not broadcast: operand {} has size {}, but others have {}", i, size, common);
      if (size != 1) common = size;
    }
  }
}

Tensor sumKept(const Tensor& tensor, const DimVector& dims) {
  return dims.empty() ? tensor : boxcar::sum(tensor, dims, /*keepdim=*/true);
}

// Multiplies two operands of the same rank, summed over the dimensions [summed], which remain with size 1. Uses a
// batched matrix product.
Tensor multiplyPair(const Tensor& left, const Tensor& right, const DimVector& summed) {
  if (summed.empty()) return boxcar::mul(left, right);
  DimVector both;
  DimVector only_left;
  DimVector only_right;
  int64_t batch = 1;
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t depth = 1;
  DimVector sizes;
  for (int64_t dim = 0; dim < left.dim(); ++dim) {
    const int64_t size_left = left.size(dim);
    const int64_t size_right = right.size(dim);
    if (std::ranges::find(summed, dim) != summed.end()) {
      depth *= size_left;
    } else if (size_left != 1 && size_right != 1) {
      both.push_back(dim);
      batch *= size_left;
    } else if (size_left != 1) {
      only_left.push_back(dim);
      rows *= size_left;
    } else {
      only_right.push_back(dim);
      columns *= size_right;
    }
  }
  const auto joined = [](std::initializer_list<const DimVector*> parts) {
    DimVector all;
    for (const DimVector* part : parts) all.insert(all.end(), part->begin(), part->end());
    return all;
  };
  const DimVector order = joined({&both, &only_left, &summed, &only_right});
  const int64_t left_sizes[] = {batch, rows, depth};
  const int64_t right_sizes[] = {batch, depth, columns};
  const Tensor product = boxcar::bmm(
      boxcar::reshape(boxcar::permute(left, order), left_sizes),
      boxcar::reshape(boxcar::permute(right, joined({&both, &summed, &only_right, &only_left})), right_sizes));
  DimVector back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t dim = order[i];
    back[static_cast<size_t>(dim)] = static_cast<int64_t>(i);
    const bool is_summed = std::ranges::find(summed, dim) != summed.end();
    sizes.push_back(is_summed                                                ? 1
                    : std::ranges::find(only_right, dim) != only_right.end() ? right.size(dim)
                                                                             : left.size(dim));
  }
  return boxcar::permute(boxcar::reshape(product, sizes), back);
}

// Checks the order of multiplications: pairs of positions in the list; both operands are removed from it and their
// product is appended.
void checkPath(std::span<const int64_t> path, size_t operands) {
  BOXCAR_CHECK(path.size() == (operands - 1) * 2,
               "einsum(): expected contraction path given in path parameter to have "
               "even length {}, but it has {} elements",
               (operands - 1) * 2, path.size());
  size_t left = operands;
  for (size_t i = 0; i < path.size(); i += 2, --left) {
    for (const int64_t place : path.subspan(i, 2)) {
      BOXCAR_CHECK(place >= 0 && static_cast<size_t>(place) < left,
                   "einsum(): the contraction path names operand {}, but {} are left", place, left);
    }
    BOXCAR_CHECK(path[i] != path[i + 1], "einsum(): the contraction path pairs operand {} with itself", path[i]);
  }
}

Tensor einsum(std::string_view text, TensorList tensors, std::optional<std::span<const int64_t>> path) {
  BOXCAR_CHECK(!tensors.empty(), "einsum(): must provide at least one operand");
  const EinsumEquation equation = parseEinsum(text, tensors.size());
  if (path.has_value()) checkPath(*path, tensors.size());
  const EinsumLayout layout(equation, tensors);
  std::vector<Tensor> operands;
  for (size_t i = 0; i < tensors.size(); ++i) {
    operands.push_back(arranged(tensors[i], i, equation.operands[i], layout));
  }
  checkSizes(operands, layout.rank);

  if (operands.size() == 1) {
    DimVector summed(static_cast<size_t>(layout.rank - layout.result_rank));
    std::iota(summed.begin(), summed.end(), layout.result_rank);
    return summed.empty() ? operands[0] : boxcar::sum(operands[0], summed);
  }

  // Counts the operands that still have each dimension; the product of the last two sums over it.
  std::vector<int> uses(static_cast<size_t>(layout.rank));
  for (const Tensor& operand : operands) {
    for (size_t dim = 0; dim < uses.size(); ++dim) uses[dim] += operand.sizes()[dim] != 1;
  }
  for (size_t step = 0; operands.size() > 1; step += 2) {
    auto first = static_cast<std::ptrdiff_t>(path.has_value() ? (*path)[step] : 0);
    auto second = static_cast<std::ptrdiff_t>(path.has_value() ? (*path)[step + 1] : 1);
    if (second < first) std::swap(first, second);
    Tensor b = operands[static_cast<size_t>(second)];
    operands.erase(operands.begin() + second);
    Tensor a = operands[static_cast<size_t>(first)];
    operands.erase(operands.begin() + first);
    DimVector summed;
    DimVector summed_in_a;
    DimVector summed_in_b;
    for (int64_t dim = layout.result_rank; dim < layout.rank; ++dim) {
      int& count = uses[static_cast<size_t>(dim)];
      const bool in_a = a.size(dim) != 1;
      const bool in_b = b.size(dim) != 1;
      if (in_a && in_b) {
        if (--count > 1) continue;
        summed.push_back(dim);
        count = 0;
      } else if (count == 1 && (in_a || in_b)) {
        (in_a ? summed_in_a : summed_in_b).push_back(dim);
        count = 0;
      }
    }
    Tensor product = multiplyPair(sumKept(a, summed_in_a), sumKept(b, summed_in_b), summed);
    operands.insert(path.has_value() ? operands.end() : operands.begin(), std::move(product));
  }
  Tensor result = operands[0];
  for (int64_t dim = layout.rank - 1; dim >= layout.result_rank; --dim) result = boxcar::squeeze(result, dim);
  return result;
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) { m.impl("einsum", BOXCAR_FN(einsum)); }

}  // namespace boxcar::composite
