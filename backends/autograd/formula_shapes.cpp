#include <boxcar/backends/autograd/formula_functions.h>
#include <boxcar/backends/meta/dims.h>

#include <algorithm>

// Functions of formulas that move gradients to the shapes of their arguments.

namespace boxcar::autograd {

using IntSpan = std::span<const int64_t>;

Tensor spread(const Tensor& grad, IntSpan sizes, std::optional<IntSpan> dims, bool keepdim) {
  if (sizes.empty()) return grad;
  Tensor kept = grad;
  if (!keepdim && dims.has_value() && !dims->empty()) {
    DimVector of_kept = toDimVector(sizes);
    for (const int64_t dim : *dims) of_kept[static_cast<size_t>(wrapDimension(dim, std::ssize(sizes)))] = 1;
    kept = boxcar::reshape(grad, of_kept);
  }
  return boxcar::expand(kept, sizes);
}

int64_t reduced(IntSpan sizes, std::optional<IntSpan> dims) {
  if (!dims.has_value() || dims->empty()) return numelOf(sizes);
  int64_t count = 1;
  if (sizes.empty()) return count;
  for (const int64_t dim : *dims) count *= sizes[static_cast<size_t>(wrapDimension(dim, std::ssize(sizes)))];
  return count;
}

Tensor permuted_back(const Tensor& grad, IntSpan dims) {
  DimVector back(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    back[static_cast<size_t>(wrapDimension(dims[i], std::ssize(dims)))] = static_cast<int64_t>(i);
  }
  return boxcar::permute(grad, back);
}

Tensor into_select(const Tensor& grad, IntSpan sizes, int64_t dim, int64_t index) {
  return boxcar::select_scatter(boxcar::zeros(sizes, grad.scalar_type(), std::nullopt, grad.device()), grad, dim,
                                index);
}

Tensor into_slice(const Tensor& grad, IntSpan sizes, int64_t dim, std::optional<int64_t> start,
                  std::optional<int64_t> end, int64_t step) {
  return boxcar::slice_scatter(boxcar::zeros(sizes, grad.scalar_type(), std::nullopt, grad.device()), grad, dim, start,
                               end, step);
}

std::vector<Tensor> cat_parts(const Tensor& grad, TensorList tensors, int64_t dim) {
  std::vector<Tensor> parts;
  int64_t start = 0;
  for (const Tensor& tensor : tensors) {
    const bool is_skipped = tensor.dim() == 1 && tensor.numel() == 0;  // as torch.cat does, whatever the dimensions
    if (is_skipped && grad.dim() != 1) {
      parts.push_back(boxcar::zeros({0}, grad.scalar_type(), std::nullopt, grad.device()));
      continue;
    }
    const int64_t length = tensor.size(dim);
    parts.push_back(boxcar::narrow(grad, dim, start, length));
    start += length;
  }
  return parts;
}

Tensor split_whole(std::span<const Tensor> grads, IntSpan sizes, int64_t split_size, int64_t dim) {
  dim = wrapDimension(dim, std::ssize(sizes));
  const auto known = std::ranges::find_if(grads, &Tensor::defined);
  DimVector part = toDimVector(sizes);
  std::vector<Tensor> parts;
  int64_t left = sizes[static_cast<size_t>(dim)];
  for (const Tensor& grad : grads) {
    part[static_cast<size_t>(dim)] = std::min(split_size, left);
    left -= part[static_cast<size_t>(dim)];
    parts.push_back(grad.defined() ? grad : boxcar::new_zeros(*known, part));
  }
  return boxcar::cat(parts, dim);
}

Tensor unbind_whole(std::span<const Tensor> grads, IntSpan sizes, int64_t dim) {
  dim = wrapDimension(dim, std::ssize(sizes));
  const auto known = std::ranges::find_if(grads, &Tensor::defined);
  std::vector<Tensor> parts;
  for (const Tensor& grad : grads) parts.push_back(grad.defined() ? grad : boxcar::zeros_like(*known));
  return boxcar::stack(parts, dim);
}

Tensor repeat_self(const Tensor& grad, IntSpan sizes, IntSpan repeats) {
  if (grad.numel() == 0) return boxcar::new_zeros(grad, sizes);
  // Each dimension as one of repetitions and one of the elements.
  DimVector separated;
  DimVector repetitions;
  const size_t added = repeats.size() - sizes.size();
  for (size_t i = 0; i < repeats.size(); ++i) {
    repetitions.push_back(std::ssize(separated));
    separated.push_back(repeats[i]);
    if (i >= added) separated.push_back(sizes[i - added]);
  }
  return repeats.empty() ? grad : boxcar::sum(boxcar::reshape(grad, separated), IntArrayRef(repetitions));
}

std::vector<int64_t> negated(IntSpan numbers) {
  std::vector<int64_t> result;
  for (const int64_t number : numbers) result.push_back(-number);
  return result;
}

Tensor into_places(const Tensor& grad, IntSpan sizes, int64_t dim, const Tensor& indices, bool keepdim) {
  const Tensor zeros = boxcar::new_zeros(grad, sizes);
  if (sizes.empty()) return boxcar::scatter(zeros, 0, indices, grad);
  if (keepdim) return boxcar::scatter(zeros, dim, indices, grad);
  return boxcar::scatter(zeros, dim, boxcar::unsqueeze(indices, dim), boxcar::unsqueeze(grad, dim));
}

Tensor to_extremes(const Tensor& grad, const Tensor& self, const Tensor& result, std::optional<IntSpan> dims,
                   bool keepdim) {
  const Tensor extremes = spread(result, self.sizes(), dims, keepdim);
  Tensor is_extreme = boxcar::eq(self, extremes);
  // As in PyTorch, a NaN takes the gradient of all elements, but makes that of a line NaN.
  if (!dims.has_value()) {
    is_extreme = boxcar::logical_or(is_extreme, boxcar::logical_and(boxcar::isnan(self), boxcar::isnan(extremes)));
  }
  const Tensor count =
      dims.has_value() && !dims->empty() ? boxcar::sum(is_extreme, IntArrayRef(*dims), true) : boxcar::sum(is_extreme);
  return spread(grad, self.sizes(), dims, keepdim) * is_extreme / count;
}

Tensor var_self(const Tensor& grad, const Tensor& self, std::optional<IntSpan> dims,
                const std::optional<Scalar>& correction, bool keepdim) {
  const double freedom = static_cast<double>(reduced(self.sizes(), dims)) - correction.value_or(1).toDouble();
  const bool is_whole = !dims.has_value() || dims->empty();
  const Tensor mean = is_whole ? boxcar::mean(self) : boxcar::mean(self, IntArrayRef(*dims), true);
  return spread(grad, self.sizes(), dims, keepdim) * (2 / freedom) * (self - mean);
}

}  // namespace boxcar::autograd
