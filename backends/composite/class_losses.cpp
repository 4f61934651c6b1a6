#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/meta/class_losses.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

// Losses of classifiers, built from nll_loss_forward and log_softmax.

namespace boxcar::composite {
namespace {

using OptionalTensor = std::optional<Tensor>;
using meta::LossReduction;

Tensor nllLoss(const Tensor& self, const Tensor& target, const OptionalTensor& weight, int64_t reduction,
               int64_t ignore_index) {
  return std::get<0>(boxcar::nll_loss_forward(self, target, weight, reduction, ignore_index));
}
Tensor& nllLossOut(const Tensor& self, const Tensor& target, const OptionalTensor& weight, int64_t reduction,
                   int64_t ignore_index, Tensor& out) {
  Tensor total_weight = boxcar::empty({}, self.scalar_type(), std::nullopt, self.device());
  boxcar::nll_loss_forward_out(out, total_weight, self, target, weight, reduction, ignore_index);
  return out;
}

Tensor nllLoss2d(const Tensor& self, const Tensor& target, const OptionalTensor& weight, int64_t reduction,
                 int64_t ignore_index) {
  return std::get<0>(boxcar::nll_loss2d_forward(self, target, weight, reduction, ignore_index));
}
Tensor& nllLoss2dOut(const Tensor& self, const Tensor& target, const OptionalTensor& weight, int64_t reduction,
                     int64_t ignore_index, Tensor& out) {
  Tensor total_weight = boxcar::empty({}, self.scalar_type(), std::nullopt, self.device());
  boxcar::nll_loss2d_forward_out(out, total_weight, self, target, weight, reduction, ignore_index);
  return out;
}

// All dimensions after the classes are treated as pixels.
Tensor nllLossNd(const Tensor& self, const Tensor& target, const OptionalTensor& weight, int64_t reduction,
                 int64_t ignore_index) {
  const auto sizes = self.sizes();
  BOXCAR_CHECK(!sizes.empty(), "nll_loss: expected 1 or more dimensions, but input has none");
  if (sizes.size() != 1) {
    BOXCAR_CHECK(target.dim() > 0 && sizes[0] == target.sizes()[0],
                 "nll_loss: expected input batch_size ({}) to match target batch_size, but target has sizes {}",
                 sizes[0], meta::listOf(target.sizes()));
  }
  if (sizes.size() <= 2) return boxcar::nll_loss(self, target, weight, reduction, ignore_index);
  if (sizes.size() == 4) return boxcar::nll_loss2d(self, target, weight, reduction, ignore_index);
  BOXCAR_CHECK(std::ranges::equal(target.sizes().subspan(1), sizes.subspan(2)),
               "nll_loss: expected a target with the sizes of input {} but for the classes, got {}",
               meta::listOf(sizes), meta::listOf(target.sizes()));
  int64_t pixels = 1;
  for (const int64_t size : sizes.subspan(2)) pixels *= size;
  const int64_t input_sizes[] = {sizes[0], sizes[1], 1, pixels};
  const int64_t target_sizes[] = {sizes[0], 1, pixels};
  const Tensor loss = boxcar::nll_loss2d(boxcar::reshape(self, input_sizes), boxcar::reshape(target, target_sizes),
                                         weight, reduction, ignore_index);
  const bool is_none = meta::lossReduction(reduction) == LossReduction::kNone;
  return is_none ? boxcar::reshape(loss, target.sizes()) : loss;
}

// Returns the class [weight]s in a shape that broadcasts with tensors of the input's dimensions.
Tensor weightAlong(const Tensor& weight, const Tensor& input, int64_t class_dim) {
  DimVector sizes(static_cast<size_t>(input.dim()), 1);
  sizes[static_cast<size_t>(class_dim)] = weight.numel();
  return boxcar::reshape(weight, sizes);
}

// Returns minus the sum of [log_probabilities], weighted, over the classes.
Tensor summedOverClasses(const Tensor& log_probabilities, const Tensor& weight, int64_t class_dim) {
  const int64_t dims[] = {class_dim};
  if (!weight.defined()) return boxcar::neg(boxcar::sum(log_probabilities, dims));
  return boxcar::neg(
      boxcar::sum(boxcar::mul(log_probabilities, weightAlong(weight, log_probabilities, class_dim)), dims));
}

Tensor ofProbabilities(const Tensor& self, const Tensor& target, const Tensor& weight, LossReduction reduction,
                       double label_smoothing, int64_t class_dim) {
  const int64_t classes = self.size(class_dim);
  BOXCAR_CHECK(!weight.defined() || (weight.dim() == 1 && weight.numel() == classes),
               "cross_entropy_loss: weight tensor should be defined either for all {} classes or no classes but got "
               "weight tensor of shape: {}",
               classes, meta::listOf(weight.sizes()));
  const Tensor smooth = label_smoothing > 0 ? boxcar::add(boxcar::mul(target, 1 - label_smoothing),
                                                          label_smoothing / static_cast<double>(classes))
                                            : target;
  Tensor losses = summedOverClasses(boxcar::mul(boxcar::log_softmax(self, class_dim), smooth), weight, class_dim);
  if (reduction == LossReduction::kNone) return losses;
  Tensor sum = boxcar::sum(losses);
  if (reduction == LossReduction::kSum) return sum;
  if (self.numel() == 0) return boxcar::fill(sum, std::numeric_limits<double>::quiet_NaN());
  return boxcar::div(sum, self.numel() / classes);
}

// Returns the loss of each sample that is not ignored against a uniform distribution: minus the sum over all classes,
// reduced like the main loss.
Tensor smoothLoss(const Tensor& log_probabilities, const Tensor& target, const Tensor& weight, LossReduction reduction,
                  int64_t ignore_index, int64_t class_dim) {
  const Tensor counted = boxcar::ne(target, ignore_index);
  const Tensor each = summedOverClasses(log_probabilities, weight, class_dim);
  Tensor losses = boxcar::where(counted, each, boxcar::zeros_like(each));
  if (reduction == LossReduction::kNone) return losses;
  Tensor sum = boxcar::sum(losses);
  if (reduction == LossReduction::kSum) return sum;
  if (!weight.defined()) return boxcar::div(sum, boxcar::sum(counted));
  const Tensor places = boxcar::where(counted, target, boxcar::zeros_like(target));
  const int64_t flat[] = {-1};
  const Tensor weights = boxcar::reshape(boxcar::gather(weight, 0, boxcar::reshape(places, flat)), target.sizes());
  return boxcar::div(sum, boxcar::sum(boxcar::where(counted, weights, boxcar::zeros_like(weights))));
}

// float16 and bfloat16 are rounded only once, at the end.
Tensor crossEntropyLoss(const Tensor& self, const Tensor& target, const OptionalTensor& weight, int64_t reduction,
                        int64_t ignore_index, double label_smoothing) {
  if (native::isSmallFloat(self)) {
    const OptionalTensor wide_weight = weight.has_value() ? OptionalTensor(widened(*weight)) : std::nullopt;
    const Tensor loss =
        crossEntropyLoss(widened(self), widened(target), wide_weight, reduction, ignore_index, label_smoothing);
    return boxcar::to(loss, self.scalar_type());
  }
  const LossReduction kind = meta::lossReduction(reduction);
  const Tensor weights = weight.value_or(Tensor());
  const int64_t class_dim = self.dim() == 1 ? 0 : 1;
  // Also rejects NaN.
  BOXCAR_CHECK(label_smoothing <= 1.0, "cross_entropy_loss: label_smoothing must be between 0.0 and 1.0. Got: {}",
               label_smoothing);
  if (std::ranges::equal(self.sizes(), target.sizes())) {
    BOXCAR_CHECK(target.is_floating_point(),
                 "cross_entropy_loss: expected floating point type for target with class probabilities, got {}",
                 dtypeName(target.scalar_type()));
    BOXCAR_CHECK(ignore_index < 0,
                 "cross_entropy_loss: ignore_index is not supported for floating point target, but it is {}",
                 ignore_index);
    return ofProbabilities(self, target, weights, kind, label_smoothing, class_dim);
  }
  BOXCAR_CHECK(self.dim() > 0, "cross_entropy_loss: expected 1 or more dimensions, but input has none");
  const Tensor log_probabilities = boxcar::log_softmax(self, class_dim);
  Tensor loss = boxcar::nll_loss_nd(log_probabilities, target, weight, reduction, ignore_index);
  if (!(label_smoothing > 0)) return loss;
  const Tensor smooth = smoothLoss(log_probabilities, target, weights, kind, ignore_index, class_dim);
  const auto classes = static_cast<double>(self.size(class_dim));
  return boxcar::add(boxcar::mul(loss, 1 - label_smoothing), boxcar::mul(smooth, label_smoothing / classes));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("nll_loss", BOXCAR_FN(nllLoss));
  m.impl("nll_loss.out", BOXCAR_FN(nllLossOut));
  m.impl("nll_loss2d", BOXCAR_FN(nllLoss2d));
  m.impl("nll_loss2d.out", BOXCAR_FN(nllLoss2dOut));
  m.impl("nll_loss_nd", BOXCAR_FN(nllLossNd));
  m.impl("cross_entropy_loss", BOXCAR_FN(crossEntropyLoss));
}

}  // namespace boxcar::composite
