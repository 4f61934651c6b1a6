#include <boxcar/backends/autograd/formula.h>
#include <boxcar/backends/autograd/formula_functions.h>
#include <boxcar/backends/meta/dims.h>

#include <algorithm>
#include <optional>
#include <utility>

// Functions of formulas of operators for neural networks.

namespace boxcar::autograd {
namespace {

using OptionalTensor = std::optional<Tensor>;
using Flags = std::span<const bool>;
using Sizes = std::span<const int64_t>;

constexpr int64_t kMeanReduction = 1;  // as the operators of losses number them
constexpr double kLeastProbability = 1e-12;

bool isGiven(const OptionalTensor& tensor) { return tensor.has_value() && tensor->defined(); }

// The gradient of each element's loss, from its [slope], with a weight.
Tensor ofElementLoss(const Tensor& slope, const OptionalTensor& weight, int64_t reduction, const Tensor& self) {
  const Tensor weighted = isGiven(weight) ? slope * *weight : slope;
  return reduction == kMeanReduction ? weighted / self.numel() : weighted;
}

}  // namespace

Tensor on_channels(const Tensor& numbers, const Tensor& images) {
  std::vector<int64_t> sizes(static_cast<size_t>(images.dim() - 1), 1);
  sizes[0] = -1;
  return boxcar::reshape(numbers, sizes);
}

// == Losses ==

Tensor binary_cross_entropy_target(const Tensor& grad, const Tensor& self, const OptionalTensor& weight,
                                   int64_t reduction) {
  return ofElementLoss(grad * (boxcar::log1p(-self) - boxcar::log(self)), weight, reduction, self);
}

Tensor binary_cross_entropy_twice(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                                  const Tensor& target, const OptionalTensor& weight, int64_t reduction) {
  const Tensor p = self + kLeastProbability;
  const Tensor q = (1 - self) + kLeastProbability;
  const Tensor slope = (self * self - 2 * self * target + target) / (power(p, 2) * power(q, 2));
  return ofElementLoss(grad * grad_output * slope, weight, reduction, self);
}

Tensor binary_cross_entropy_twice_target(const Tensor& grad, const Tensor& grad_output, const Tensor& self,
                                         const OptionalTensor& weight, int64_t reduction) {
  const Tensor p = self + kLeastProbability;
  const Tensor q = (1 - self) + kLeastProbability;
  return ofElementLoss(-(grad * grad_output) / (p * q), weight, reduction, self);
}

Tensor binary_cross_entropy_with_logits_self(const Tensor& grad, const Tensor& self, const Tensor& target,
                                             const OptionalTensor& weight, const OptionalTensor& pos_weight,
                                             int64_t reduction) {
  const Tensor sigmoid = boxcar::sigmoid(self);
  Tensor slope = sigmoid - target;
  if (isGiven(pos_weight)) {
    const Tensor positive = *pos_weight * target;
    slope = (positive + 1 - target) * sigmoid - positive;
  }
  return ofElementLoss(grad * slope, weight, reduction, self);
}

Tensor binary_cross_entropy_with_logits_target(const Tensor& grad, const Tensor& self, const OptionalTensor& weight,
                                               const OptionalTensor& pos_weight, int64_t reduction) {
  const Tensor slope =
      isGiven(pos_weight) ? boxcar::log_sigmoid(-self) - *pos_weight * boxcar::log_sigmoid(self) : -self;
  return ofElementLoss(grad * slope, weight, reduction, self);
}

// == Norms ==

GradientTriple batch_norm_gradients(const Tensor& grad, const Tensor& input, const OptionalTensor& weight,
                                    const LaterTensor& running_mean, const LaterTensor& running_var,
                                    const Tensor& save_mean, const Tensor& save_invstd, bool training, double eps,
                                    Flags mask) {
  // Training writes the running statistics, and does not read them.
  const OptionalTensor mean = training ? std::nullopt : running_mean();
  const OptionalTensor variance = training ? std::nullopt : running_var();
  return boxcar::native_batch_norm_backward(grad, input, weight, mean, variance, save_mean, save_invstd, training, eps,
                                            mask);
}

namespace {

// A normalised tensor x, as a view in which its statistics and its weight broadcast:
//   y = weight * scaled + bias, where scaled = (x - mean) * scale
// and its gradient, for gradients g of y:
//   of_x = projected(weight * g), of_weight = sum(g * scaled), of_bias = sum(g)
struct Normalization {
  DimVector sizes;       // of the view
  DimVector statistics;  // of the mean and the scale
  DimVector weights;     // of the weight and the bias
  DimVector dims;        // that statistics are taken of
  Tensor mean;
  Tensor scale;
  bool is_fixed = false;  // the statistics are not those of x

  Tensor view(const Tensor& x) const { return boxcar::reshape(x, sizes); }
  Tensor meanOf(const Tensor& x) const { return boxcar::mean(x, IntArrayRef(dims), /*keepdim=*/true); }
  // A change of the mean or of the variance of x does not change y.
  Tensor projected(const Tensor& gradient, const Tensor& scaled) const {
    if (is_fixed) return gradient * scale;
    return (gradient - meanOf(gradient) - scaled * meanOf(gradient * scaled)) * scale;
  }

  // Makes the statistics depend on [input], whose they are, without a change of their values.
  void connect(const Tensor& input) {
    if (is_fixed || !isDifferentiated()) return;
    // What is 0, but has the derivative of [of].
    const auto change = [](const Tensor& of) { return of - of.shallowCopy(); };
    const Tensor centred = boxcar::to(view(input), mean.scalar_type()) - mean;
    const Tensor mean_change = meanOf(centred);
    const Tensor variance = meanOf(centred * centred) - mean_change * mean_change;
    mean = mean + change(mean_change);
    scale = scale * boxcar::rsqrt(change(variance) * (scale * scale) + 1);
  }

  // The gradients of the gradient, from [grads] of the three.
  GradientTriple twice(std::span<const Tensor> grads, const Tensor& grad_out, const Tensor& input,
                       const OptionalTensor& weight) const {
    const Tensor g = view(grad_out);
    const Tensor scaled = (view(input) - mean) * scale;
    const Tensor w = isGiven(weight) ? boxcar::reshape(*weight, weights) : Tensor();
    const auto weighted = [&](const Tensor& x) { return w.defined() ? x * w : x; };
    Tensor of_input;
    Tensor of_weight;
    Tensor of_gradient;
    if (grads[0].defined()) {
      const Tensor a = view(grads[0]);
      const Tensor h = weighted(g);
      const Tensor projected_a = projected(a, scaled);
      of_gradient = weighted(projected_a);
      if (w.defined()) of_weight = g * projected_a;
      if (!is_fixed) {
        const Tensor mean_a = meanOf(a);
        const Tensor mean_h = meanOf(h);
        const Tensor along_a = meanOf(a * scaled);
        const Tensor along_h = meanOf(h * scaled);
        const Tensor both = meanOf(a * h) - mean_a * mean_h - along_a * along_h;
        of_input =
            -(scaled * (both * scale * scale)) - scale * (along_h * projected_a + along_a * projected(h, scaled));
      }
    }
    if (grads[1].defined()) {
      const Tensor b = boxcar::reshape(grads[1], weights);
      of_input = of_input + projected(b * g, scaled);
      of_gradient = of_gradient + b * scaled;
    }
    if (grads[2].defined()) of_gradient = of_gradient + boxcar::expand(boxcar::reshape(grads[2], weights), sizes);
    const auto shaped = [](const Tensor& gradient, const Tensor& like) {
      return gradient.defined() ? boxcar::to(boxcar::reshape(gradient, like.sizes()), like.scalar_type()) : gradient;
    };
    if (of_weight.defined()) of_weight = shaped(boxcar::sum_to_size(of_weight, weights), *weight);
    return {shaped(of_input, input), of_weight, shaped(of_gradient, grad_out)};
  }
};

}  // namespace

GradientTriple batch_norm_twice(std::span<const Tensor> grads, const Tensor& grad_out, const Tensor& input,
                                const OptionalTensor& weight, const OptionalTensor& running_mean,
                                const OptionalTensor& running_var, const OptionalTensor& save_mean,
                                const OptionalTensor& save_invstd, bool training, double eps) {
  Normalization norm;
  norm.sizes = toDimVector(input.sizes());
  norm.statistics.assign(norm.sizes.size(), 1);
  norm.statistics[1] = norm.sizes[1];
  norm.weights = norm.statistics;
  for (int64_t dim = 0; dim < input.dim(); ++dim) {
    if (dim != 1) norm.dims.push_back(dim);
  }
  norm.is_fixed = !training;
  const Tensor mean = training ? *save_mean : *running_mean;
  const Tensor scale = training ? *save_invstd : boxcar::rsqrt(*running_var + eps);
  norm.mean = boxcar::reshape(mean, norm.statistics);
  norm.scale = boxcar::reshape(scale, norm.statistics);
  norm.connect(input);
  return norm.twice(grads, grad_out, input, weight);
}

GradientTriple layer_norm_twice(std::span<const Tensor> grads, const Tensor& grad_out, const Tensor& input,
                                Sizes normalized_shape, const Tensor& mean, const Tensor& rstd,
                                const OptionalTensor& weight) {
  const int64_t length = numelOf(normalized_shape);
  const int64_t rows = numelOf(input.sizes().first(input.sizes().size() - normalized_shape.size()));
  Normalization norm;
  norm.sizes = {rows, length};
  norm.statistics = {rows, 1};
  norm.weights = {1, length};
  norm.dims = {1};
  norm.mean = boxcar::reshape(mean, norm.statistics);
  norm.scale = boxcar::reshape(rstd, norm.statistics);
  norm.connect(input);
  return norm.twice(grads, grad_out, input, weight);
}

// The mean and the scale are results that have gradients, too.
GradientTriple group_norm_gradients(std::span<const Tensor> grads, const Tensor& input, const Tensor& mean,
                                    const Tensor& rstd, const OptionalTensor& weight, int64_t samples, int64_t channels,
                                    int64_t length, int64_t groups, Flags mask) {
  const bool has_more = grads[1].defined() || grads[2].defined();
  if (!isDifferentiated() && !has_more) {
    return boxcar::native_group_norm_backward(grads[0], input, mean, rstd, weight, samples, channels, length, groups,
                                              mask);
  }
  const int64_t size = channels / groups;
  Normalization norm;
  norm.sizes = {samples, groups, size, length};
  norm.statistics = {samples, groups, 1, 1};
  norm.weights = {1, groups, size, 1};
  norm.dims = {2, 3};
  norm.scale = boxcar::reshape(rstd, norm.statistics);
  const Tensor scaled = (norm.view(input) - boxcar::reshape(mean, norm.statistics)) * norm.scale;
  const auto elements = static_cast<double>(size * length);
  Tensor of_input;
  Tensor of_weight;
  Tensor of_bias;
  if (grads[0].defined()) {
    const Tensor g = norm.view(grads[0]);
    of_input = norm.projected(isGiven(weight) ? g * boxcar::reshape(*weight, norm.weights) : g, scaled);
    const int64_t others[] = {0, 3};
    if (mask[1]) of_weight = boxcar::reshape(boxcar::sum(g * scaled, others), {channels});
    if (mask[2]) of_bias = boxcar::reshape(boxcar::sum(g, others), {channels});
  }
  if (grads[1].defined()) {
    const Tensor shift = boxcar::reshape(grads[1], norm.statistics) / elements;
    of_input = of_input + boxcar::expand(shift, norm.sizes);
  }
  if (grads[2].defined()) {
    const Tensor stretch = boxcar::reshape(grads[2], norm.statistics) * norm.scale * norm.scale / elements;
    of_input = of_input - scaled * stretch;
  }
  return {boxcar::to(boxcar::reshape(of_input, input.sizes()), input.scalar_type()), of_weight, of_bias};
}

// == Convolutions ==

// The gradient of a convolution is linear in each of three tensors.
GradientTriple convolution_twice(std::span<const Tensor> grads, const Tensor& grad_output, const Tensor& input,
                                 const Tensor& weight, Sizes stride, Sizes padding, Sizes dilation, bool transposed,
                                 Sizes output_padding, int64_t groups, Flags mask) {
  const auto convolved = [&](const Tensor& x, const Tensor& by) {
    return boxcar::convolution(x, by, std::nullopt, stride, padding, dilation, transposed, output_padding, groups);
  };
  Tensor of_output;
  Tensor of_input;
  Tensor of_weight;
  if (mask[0]) {
    if (grads[0].defined()) of_output = convolved(grads[0], weight);
    if (grads[1].defined()) of_output = of_output + convolved(input, grads[1]);
    if (grads[2].defined()) {
      DimVector shape(static_cast<size_t>(grad_output.dim()), 1);
      shape[1] = grads[2].numel();
      of_output = of_output + boxcar::expand(boxcar::reshape(grads[2], shape), grad_output.sizes());
    }
  }
  if (mask[1] && grads[1].defined()) {
    const bool wanted[] = {true, false, false};
    of_input = std::get<0>(boxcar::convolution_backward(grad_output, input, grads[1], std::nullopt, stride, padding,
                                                        dilation, transposed, output_padding, groups, wanted));
  }
  if (mask[2] && grads[0].defined()) {
    const bool wanted[] = {false, true, false};
    of_weight = std::get<1>(boxcar::convolution_backward(grad_output, grads[0], weight, std::nullopt, stride, padding,
                                                         dilation, transposed, output_padding, groups, wanted));
  }
  return {of_output, of_input, of_weight};
}

// == Others ==

GradientPair prelu_gradients(const Tensor& grad, const Tensor& self, const Tensor& weight) {
  Tensor slopes = weight;
  if (weight.numel() != 1 && self.dim() > 1) {
    DimVector shape(static_cast<size_t>(self.dim()), 1);
    shape[1] = weight.numel();
    slopes = boxcar::reshape(weight, shape);
  } else if (weight.numel() == 1) {
    slopes = boxcar::reshape(weight, {});
  }
  const auto [of_self, of_slopes] = boxcar::_prelu_kernel_backward(grad, self, slopes);
  return {of_self, boxcar::reshape(boxcar::sum_to_size(of_slopes, slopes.sizes()), weight.sizes())};
}

GradientTriple prelu_twice(std::span<const Tensor> grads, const Tensor& grad_output, const Tensor& self,
                           const Tensor& weight) {
  const Tensor is_positive = boxcar::ge(self, 0);
  const auto where_negative = [&](const Tensor& x) { return boxcar::masked_fill(x, is_positive, 0); };
  Tensor of_output = grads[0].defined() ? boxcar::where(is_positive, grads[0], grads[0] * weight) : Tensor();
  if (grads[1].defined()) of_output = of_output + where_negative(grads[1] * self);
  return {of_output, grads[1].defined() ? where_negative(grad_output * grads[1]) : Tensor(),
          grads[0].defined() ? where_negative(grad_output * grads[0]) : Tensor()};
}

Tensor sums_of_rows(const Tensor& grad) {
  const int64_t rows[] = {0};
  return boxcar::sum(boxcar::flatten(grad, 0, -2), rows);
}

Tensor max_pool2d_gradient(const Tensor& grad, const Tensor& self, Sizes kernel_size, Sizes stride, Sizes padding,
                           Sizes dilation, bool ceil_mode) {
  const Tensor places =
      std::get<1>(boxcar::max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
  return boxcar::max_pool2d_with_indices_backward(grad, self, kernel_size, stride, padding, dilation, ceil_mode,
                                                  places);
}

Tensor at_maxima(const Tensor& grad, const Tensor& indices, int64_t rank) {
  if (indices.numel() == 0) return boxcar::new_zeros(grad, indices.sizes());
  const Tensor places = boxcar::flatten(indices, -rank, -1);
  return boxcar::reshape(boxcar::gather(boxcar::flatten(grad, -rank, -1), -1, places), indices.sizes());
}

Sizes last_sizes(Sizes sizes, int64_t count) { return sizes.last(static_cast<size_t>(count)); }

Tensor embedding_rows(const Tensor& grad, const Tensor& indices, int64_t padding_idx) {
  Tensor rows = boxcar::embedding(grad, indices);
  if (padding_idx < 0) return rows;
  return boxcar::masked_fill(rows, boxcar::unsqueeze(boxcar::eq(indices, padding_idx), -1), 0);
}

}  // namespace boxcar::autograd
