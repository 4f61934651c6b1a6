#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/meta/class_losses.h>
#include <boxcar/backends/meta/loss_reduction.h>
#include <boxcar/backends/meta/normalization.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <optional>
#include <string_view>

// Gradients of losses. Those that are registered as implicit are made of operators that can be differentiated, so that
// they can be, too.

namespace boxcar::composite {
namespace {

using OptionalTensor = std::optional<Tensor>;

void checkFloatLoss(std::string_view op, const Tensor& grad_output, const Tensor& self) {
  BOXCAR_CHECK(self.is_floating_point() && grad_output.is_floating_point(),
               "{}: expected grad_output and self of floating-point dtypes, but got {} and {}", op,
               dtypeName(grad_output.scalar_type()), dtypeName(self.scalar_type()));
}

// The gradient of each element's loss, from the [slope] of the loss, times [factor], and the gradient of what
// [reduction] made of the losses.
Tensor ofSlope(const Tensor& grad_output, const Tensor& slope, int64_t reduction, const Tensor& self,
               double factor = 1) {
  const bool is_mean = meta::toReduction(reduction) == meta::Reduction::kMean;
  Tensor gradient = widened(grad_output);
  // Often a single element.
  if (factor != 1) gradient = boxcar::mul(gradient, factor);
  // Of no elements there is no result, but a gradient of grad_output, which is 0.
  if (is_mean) gradient = boxcar::div(gradient, std::max<int64_t>(self.numel(), 1));
  return converted(boxcar::mul(slope, gradient), self.scalar_type());
}

Tensor differenceOf(const Tensor& self, const Tensor& target) { return boxcar::sub(widened(self), widened(target)); }

Tensor mseLossBackward(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction) {
  checkFloatLoss("mse_loss_backward", grad_output, self);
  return ofSlope(grad_output, differenceOf(self, target), reduction, self, 2);
}

// [inner] where [difference] is between -[bound] and [bound], and plus or minus [outer] elsewhere.
Tensor boundedSlope(const Tensor& difference, double bound, const Tensor& inner, double outer) {
  return boxcar::where(boxcar::le(difference, -bound), -outer,
                       boxcar::where(boxcar::ge(difference, bound), outer, inner));
}

Tensor smoothL1LossBackward(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction,
                            double beta) {
  constexpr std::string_view kName = "smooth_l1_loss_backward";
  checkFloatLoss(kName, grad_output, self);
  BOXCAR_CHECK(beta >= 0, "{}: beta must not be negative, but it is {}", kName, beta);
  const Tensor difference = differenceOf(self, target);
  const Tensor inner = beta == 0 ? difference : boxcar::div(difference, beta);
  return ofSlope(grad_output, boundedSlope(difference, beta, inner, 1), reduction, self);
}

Tensor huberLossBackward(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction,
                         double delta) {
  checkFloatLoss("huber_loss_backward", grad_output, self);
  const Tensor difference = differenceOf(self, target);
  return ofSlope(grad_output, boundedSlope(difference, delta, difference, delta), reduction, self);
}

Tensor softMarginLossBackward(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction) {
  checkFloatLoss("soft_margin_loss_backward", grad_output, self);
  const Tensor opposite = boxcar::neg(widened(target));
  const Tensor z = boxcar::exp(boxcar::mul(opposite, widened(self)));
  return ofSlope(grad_output, boxcar::div(boxcar::mul(opposite, z), boxcar::add(z, 1)), reduction, self);
}

// The slope is bounded where the probability is 0 or 1.
Tensor binaryCrossEntropyBackward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                  const OptionalTensor& weight, int64_t reduction) {
  checkFloatLoss("binary_cross_entropy_backward", grad_output, self);
  constexpr double kLeastVariance = 1e-12;
  const Tensor p = widened(self);
  const Tensor variance = boxcar::clamp_min(boxcar::mul(boxcar::rsub(p, 1), p), kLeastVariance);
  Tensor slope = boxcar::div(boxcar::sub(p, widened(target)), variance);
  if (meta::givenTensor(weight) != nullptr) slope = boxcar::mul(slope, widened(*weight));
  return ofSlope(grad_output, slope, reduction, self);
}

// == Losses of classes ==

using Check = meta::ClassLoss (*)(const Tensor&, const Tensor&, const Tensor&, int64_t);

// [class_dim] from the end.
Tensor nllBackward(std::string_view op, Check check, int64_t class_dim, const Tensor& grad_output, const Tensor& self,
                   const Tensor& target, const OptionalTensor& weight, int64_t reduction, int64_t ignore_index,
                   const Tensor& total_weight) {
  checkFloatLoss(op, grad_output, self);
  const Tensor* const given = meta::givenTensor(weight);
  const meta::ClassLoss loss = check(self, target, given == nullptr ? Tensor() : *given, reduction);
  BOXCAR_CHECK(std::ranges::equal(grad_output.sizes(), loss.output_sizes) || grad_output.numel() == 1,
               "{}: grad_output must be of the size {} of the loss, but it is of size {}", op,
               meta::listOf(loss.output_sizes), meta::listOf(grad_output.sizes()));
  BOXCAR_CHECK(total_weight.numel() == 1, "{}: total_weight must have one element, but it is of size {}", op,
               meta::listOf(total_weight.sizes()));
  const bool is_mean = meta::lossReduction(reduction) == meta::LossReduction::kMean;
  const bool is_one = self.dim() == 1 && target.dim() == 1;  // one class for one sample
  const Tensor classes = is_one ? boxcar::reshape(target, {}) : target;
  const Tensor is_ignored = boxcar::eq(classes, ignore_index);
  const Tensor places = boxcar::to(boxcar::masked_fill(classes, is_ignored, 0), ScalarType::Long);
  Tensor each = boxcar::neg(widened(grad_output));
  if (each.dim() > classes.dim()) each = boxcar::reshape(each, {});
  if (is_mean) each = boxcar::div(each, boxcar::reshape(widened(total_weight), {}));
  each = boxcar::expand(each, classes.sizes());
  if (given != nullptr) {
    const Tensor weights = boxcar::index_select(widened(*given), 0, boxcar::flatten(places));
    each = boxcar::mul(each, boxcar::reshape(weights, classes.sizes()));
  }
  each = boxcar::masked_fill(each, is_ignored, 0);
  const Tensor zeros = boxcar::zeros(self.sizes(), each.scalar_type(), std::nullopt, self.device());
  const Tensor result =
      boxcar::scatter(zeros, class_dim, boxcar::unsqueeze(places, class_dim), boxcar::unsqueeze(each, class_dim));
  return converted(result, self.scalar_type());
}
Tensor nllLossBackward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                       const OptionalTensor& weight, int64_t reduction, int64_t ignore_index,
                       const Tensor& total_weight) {
  return nllBackward("nll_loss_backward", meta::checkNllLoss, -1, grad_output, self, target, weight, reduction,
                     ignore_index, total_weight);
}
Tensor nllLoss2dBackward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                         const OptionalTensor& weight, int64_t reduction, int64_t ignore_index,
                         const Tensor& total_weight) {
  return nllBackward("nll_loss2d_backward", meta::checkNllLoss2d, -3, grad_output, self, target, weight, reduction,
                     ignore_index, total_weight);
}

// == Margins between classes ==

// [rows] samples and classes, each with a gradient, of the sum of losses over the classes.
Tensor ofClassMean(const Tensor& gradients, const Tensor& grad_output, int64_t reduction, const Tensor& self) {
  const int64_t samples = gradients.size(0);
  const bool is_mean = meta::toReduction(reduction) == meta::Reduction::kMean;
  const bool is_none = meta::toReduction(reduction) == meta::Reduction::kNone;
  const Tensor of_sample = boxcar::div(widened(grad_output), gradients.size(1) * (is_mean ? samples : 1));
  const Tensor factor = is_none ? boxcar::reshape(of_sample, dimVector(samples, int64_t{1})) : of_sample;
  return converted(boxcar::reshape(boxcar::mul(gradients, factor), self.sizes()), self.scalar_type());
}

// [self] as [samples, classes]. Throws Error unless there are [per_sample] targets for each sample.
Tensor marginRows(std::string_view op, const Tensor& grad_output, const Tensor& self, const Tensor& target,
                  bool has_target_per_class, int64_t reduction) {
  checkFloatLoss(op, grad_output, self);
  const int64_t classes = self.dim() == 0 ? 1 : self.sizes().back();
  const int64_t samples = self.dim() == 2 ? self.sizes()[0] : 1;
  BOXCAR_CHECK(self.dim() <= 2 && classes > 0 && target.numel() == samples * (has_target_per_class ? classes : 1) &&
                   target.scalar_type() == ScalarType::Long,
               "{}: expected an input [samples, classes] or [classes] and int64 targets that fit, but got sizes {} and "
               "{} of {}",
               op, meta::listOf(self.sizes()), meta::listOf(target.sizes()), dtypeName(target.scalar_type()));
  const bool is_none = meta::toReduction(reduction) == meta::Reduction::kNone;
  BOXCAR_CHECK(grad_output.numel() == (is_none ? samples : 1),
               "{}: grad_output must be of the loss' size, but it is of size {}", op,
               meta::listOf(grad_output.sizes()));
  return boxcar::reshape(widened(self), dimVector(samples, classes));
}

Tensor multiMarginLossBackward(const Tensor& grad_output, const Tensor& self, const Tensor& target, const Scalar& p,
                               const Scalar& margin, const OptionalTensor& weight, int64_t reduction) {
  constexpr std::string_view kName = "multi_margin_loss_backward";
  const double power = p.toDouble();
  BOXCAR_CHECK(power == 1 || power == 2, "{}: p must be 1 or 2, but it is {}", kName, power);
  const Tensor rows = marginRows(kName, grad_output, self, target, /*has_target_per_class=*/false, reduction);
  const Tensor places = boxcar::reshape(target, dimVector(rows.size(0), int64_t{1}));
  const Tensor margins = boxcar::add(boxcar::sub(rows, boxcar::gather(rows, 1, places)), margin);
  Tensor slopes = power == 1 ? boxcar::to(boxcar::gt(margins, 0), rows.scalar_type())
                             : boxcar::mul(boxcar::clamp_min(margins, 0), 2);
  if (const Tensor* const given = meta::givenTensor(weight)) {
    BOXCAR_CHECK(given->numel() == rows.size(1), "{}: expected a weight for each of {} classes, but got size {}", kName,
                 rows.size(1), meta::listOf(given->sizes()));
    const Tensor chosen = boxcar::index_select(boxcar::flatten(widened(*given)), 0, boxcar::flatten(places));
    slopes = boxcar::mul(slopes, boxcar::unsqueeze(chosen, 1));
  }
  slopes = boxcar::scatter(slopes, 1, places, 0);
  const int64_t dims[] = {1};
  const Tensor of_target = boxcar::neg(boxcar::sum(slopes, dims, /*keepdim=*/true));
  return ofClassMean(boxcar::scatter(slopes, 1, places, of_target), grad_output, reduction, self);
}

// Labels after the first negative one do not count.
Tensor multilabelMarginLossBackward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                    int64_t reduction, const Tensor& is_target) {
  constexpr std::string_view kName = "multilabel_margin_loss_backward";
  const Tensor rows = marginRows(kName, grad_output, self, target, /*has_target_per_class=*/true, reduction);
  BOXCAR_CHECK(is_target.numel() == target.numel(), "{}: is_target must be of the target's size {}, but it is {}",
               kName, meta::listOf(target.sizes()), meta::listOf(is_target.sizes()));
  const Tensor labels = boxcar::reshape(target, rows.sizes());
  const Tensor others = boxcar::eq(boxcar::reshape(is_target, rows.sizes()), 0);
  const Tensor counts = boxcar::eq(boxcar::cumsum(boxcar::lt(labels, 0), 1), 0);
  const Tensor places = boxcar::where(counts, labels, 0);
  const Tensor chosen = boxcar::gather(rows, 1, places);
  // [samples, labels, classes]
  const Tensor margins = boxcar::add(boxcar::sub(boxcar::unsqueeze(rows, 1), boxcar::unsqueeze(chosen, 2)), 1);
  const Tensor counted = boxcar::logical_and(boxcar::unsqueeze(counts, 2), boxcar::unsqueeze(others, 1));
  const Tensor slopes = boxcar::to(boxcar::logical_and(counted, boxcar::gt(margins, 0)), rows.scalar_type());
  const int64_t of_classes[] = {1};
  const int64_t of_labels[] = {2};
  const Tensor gradients =
      boxcar::scatter_add(boxcar::sum(slopes, of_classes), 1, places, boxcar::neg(boxcar::sum(slopes, of_labels)));
  return ofClassMean(gradients, grad_output, reduction, self);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("mse_loss_backward", BOXCAR_FN(mseLossBackward));
  m.impl("smooth_l1_loss_backward", BOXCAR_FN(smoothL1LossBackward));
  m.impl("huber_loss_backward", BOXCAR_FN(huberLossBackward));
  m.impl("soft_margin_loss_backward", BOXCAR_FN(softMarginLossBackward));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("binary_cross_entropy_backward", BOXCAR_FN(binaryCrossEntropyBackward));
  m.impl("nll_loss_backward", BOXCAR_FN(nllLossBackward));
  m.impl("nll_loss2d_backward", BOXCAR_FN(nllLoss2dBackward));
  m.impl("multi_margin_loss_backward", BOXCAR_FN(multiMarginLossBackward));
  m.impl("multilabel_margin_loss_backward", BOXCAR_FN(multilabelMarginLossBackward));
}

}  // namespace boxcar::composite
