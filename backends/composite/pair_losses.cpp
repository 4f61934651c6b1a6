#include <boxcar/backends/composite/reduced_loss.h>
#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <numbers>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>

// Losses of counts, of pairs and triplets, and of margins between classes.

namespace boxcar::composite {
namespace {

using OptionalTensor = std::optional<Tensor>;
using Pair = std::tuple<Tensor, Tensor>;

Tensor poissonNllLoss(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps,
                      int64_t reduction) {
  Tensor loss = log_input ? boxcar::sub(boxcar::exp(input), boxcar::mul(target, input))
                          : boxcar::sub(input, boxcar::mul(target, boxcar::log(boxcar::add(input, eps))));
  if (full) {
    const Tensor rest = boxcar::mul(boxcar::log(boxcar::mul(target, 2 * std::numbers::pi)), 0.5);
    const Tensor stirling = boxcar::add(boxcar::sub(boxcar::mul(target, boxcar::log(target)), target), rest);
    loss = boxcar::add(loss, boxcar::masked_fill(stirling, boxcar::le(target, 1), 0));
  }
  return reducedLoss(loss, reduction);
}

Tensor marginRankingLoss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                         int64_t reduction) {
  const Tensor difference = boxcar::mul(boxcar::neg(target), boxcar::sub(input1, input2));
  return reducedLoss(boxcar::clamp_min(boxcar::add(difference, margin), 0), reduction);
}

Tensor cosineEmbeddingLoss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                           int64_t reduction) {
  const int64_t along = target.dim();
  BOXCAR_CHECK((along == 0 || along == 1) && input1.dim() == along + 1 && input2.dim() == along + 1,
               "cosine_embedding_loss: expected a target of one dimension and inputs of two, or a target without "
               "dimensions and inputs of one, but got sizes {}, {} and {}",
               meta::listOf(input1.sizes()), meta::listOf(input2.sizes()), meta::listOf(target.sizes()));
  constexpr double kEpsilon = 1e-12;
  const int64_t dims[] = {along};
  const auto product = [&](const Tensor& a, const Tensor& b) { return boxcar::sum(boxcar::mul(a, b), dims); };
  const Tensor squares =
      boxcar::mul(boxcar::add(product(input1, input1), kEpsilon), boxcar::add(product(input2, input2), kEpsilon));
  const Tensor cosine = boxcar::div(product(input1, input2), boxcar::sqrt(squares));
  const Tensor zeros = boxcar::zeros_like(cosine);
  const Tensor alike = boxcar::where(boxcar::eq(target, 1), boxcar::rsub(cosine, 1), zeros);
  const Tensor unlike = boxcar::where(boxcar::eq(target, -1), boxcar::clamp_min(boxcar::sub(cosine, margin), 0), zeros);
  return reducedLoss(boxcar::add(alike, unlike), reduction);
}

Tensor hingeEmbeddingLoss(const Tensor& self, const Tensor& target, double margin, int64_t reduction) {
  const Tensor zeros = boxcar::zeros_like(self);
  const Tensor unlike = boxcar::where(boxcar::ne(target, 1), boxcar::clamp_min(boxcar::rsub(self, margin), 0), zeros);
  const Tensor alike = boxcar::where(boxcar::ne(target, -1), self, zeros);
  return reducedLoss(boxcar::add(unlike, alike), reduction);
}

Tensor tripletMarginLoss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin, double p,
                         double eps, bool swap, int64_t reduction) {
  BOXCAR_CHECK(anchor.dim() == positive.dim() && anchor.dim() == negative.dim(),
               "triplet_margin_loss: anchor, positive and negative should have the same number of dimensions, but got "
               "sizes {}, {} and {}",
               meta::listOf(anchor.sizes()), meta::listOf(positive.sizes()), meta::listOf(negative.sizes()));
  const Tensor near = boxcar::pairwise_distance(anchor, positive, p, eps);
  Tensor far = boxcar::pairwise_distance(anchor, negative, p, eps);
  if (swap) far = boxcar::minimum(far, boxcar::pairwise_distance(positive, negative, p, eps));
  return reducedLoss(boxcar::clamp_min(boxcar::sub(boxcar::add(near, margin), far), 0), reduction);
}

Tensor softMarginLoss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return reducedLoss(boxcar::log1p(boxcar::exp(boxcar::mul(boxcar::neg(target), self))), reduction);
}
Tensor& softMarginLossOut(const Tensor& self, const Tensor& target, int64_t reduction, Tensor& out) {
  return writeSameType(out, softMarginLoss(self, target, reduction));
}

// == Margins between classes ==

// [self] as [samples, classes]. Throws Error unless it is that or [classes], with [target]s of [target_dims] dimensions
// less and classes.
Tensor classRows(std::string_view op, const Tensor& self, const Tensor& target, bool has_target_per_class) {
  const auto sizes = self.sizes();
  const auto targets = target.sizes();
  bool fits = sizes.size() <= 2 && (sizes.empty() || sizes.back() > 0);
  if (has_target_per_class) {
    fits = fits && targets.size() <= 2 && target.numel() == self.numel() &&
           (sizes.size() != 2 || (targets.size() == 2 && targets[0] == sizes[0]));
  } else {
    fits = fits && targets.size() <= 1 && target.numel() == (sizes.size() == 2 ? sizes[0] : 1);
  }
  BOXCAR_CHECK(fits,
               "{}: expected an input [samples, classes] or [classes] and targets that fit, but got sizes {} and {}",
               op, meta::listOf(sizes), meta::listOf(targets));
  BOXCAR_CHECK(target.scalar_type() == ScalarType::Long, "{}: expected targets of dtype int64, but got {}", op,
               dtypeName(target.scalar_type()));
  return sizes.size() == 2 ? self : boxcar::reshape(self, dimVector(int64_t{1}, self.numel()));
}

Tensor multiMarginLoss(const Tensor& self, const Tensor& target, const Scalar& p, const Scalar& margin,
                       const OptionalTensor& weight, int64_t reduction) {
  constexpr std::string_view kName = "multi_margin_loss";
  const double power = p.toDouble();
  BOXCAR_CHECK(power == 1 || power == 2, "{}: p must be 1 or 2, but it is {}", kName, power);
  const Tensor rows = classRows(kName, self, target, /*has_target_per_class=*/false);
  const int64_t classes = rows.size(1);
  const Tensor places = boxcar::reshape(target, dimVector(rows.size(0), int64_t{1}));
  Tensor losses = boxcar::clamp_min(boxcar::add(boxcar::sub(rows, boxcar::gather(rows, 1, places)), margin), 0);
  if (power == 2) losses = boxcar::mul(losses, losses);
  if (weight.has_value() && weight->defined()) {
    BOXCAR_CHECK(weight->dim() <= 1 && weight->numel() == classes,
                 "{}: expected a weight for each of {} classes, but got size {}", kName, classes,
                 meta::listOf(weight->sizes()));
    const Tensor chosen = boxcar::index_select(boxcar::reshape(*weight, dimVector(classes)), 0,
                                               boxcar::reshape(places, dimVector(rows.size(0))));
    losses = boxcar::mul(losses, boxcar::unsqueeze(chosen, 1));
  }
  // The target itself does not count.
  losses = boxcar::scatter(losses, 1, places, 0);
  const int64_t dims[] = {1};
  return reducedLoss(boxcar::reshape(boxcar::div(boxcar::sum(losses, dims), classes), target.sizes()), reduction);
}
Tensor& multiMarginLossOut(const Tensor& self, const Tensor& target, const Scalar& p, const Scalar& margin,
                           const OptionalTensor& weight, int64_t reduction, Tensor& out) {
  return writeSameType(out, multiMarginLoss(self, target, p, margin, weight, reduction));
}

Pair multilabelMarginLossForward(const Tensor& self, const Tensor& target, int64_t reduction) {
  const Tensor rows = classRows("multilabel_margin_loss", self, target, /*has_target_per_class=*/true);
  const int64_t samples = rows.size(0);
  const int64_t classes = rows.size(1);
  const Tensor labels = boxcar::reshape(target, rows.sizes());
  // Labels after the first negative one do not count: they mark a class of their own.
  const Tensor counts = boxcar::eq(boxcar::cumsum(boxcar::lt(labels, 0), 1), 0);
  Tensor marks = boxcar::zeros(dimVector(samples, classes + 1), self.scalar_type(), std::nullopt, self.device());
  boxcar::scatter_(marks, 1, boxcar::where(counts, labels, classes), 1);
  const Tensor is_target = boxcar::contiguous(boxcar::narrow(marks, 1, 0, classes));
  const Tensor chosen = boxcar::gather(rows, 1, boxcar::where(counts, labels, 0));
  const Tensor margins =
      boxcar::clamp_min(boxcar::add(boxcar::sub(boxcar::unsqueeze(rows, 1), boxcar::unsqueeze(chosen, 2)), 1), 0);
  const Tensor counted =
      boxcar::logical_and(boxcar::unsqueeze(counts, 2), boxcar::eq(boxcar::unsqueeze(is_target, 1), 0));
  const int64_t dims[] = {1, 2};
  const Tensor sums = boxcar::sum(boxcar::where(counted, margins, boxcar::zeros_like(margins)), dims);
  const Tensor losses = boxcar::div(sums, classes);
  return {reducedLoss(self.dim() == 2 ? losses : boxcar::squeeze(losses, 0), reduction),
          boxcar::reshape(is_target, target.sizes())};
}
std::tuple<Tensor&, Tensor&> multilabelMarginLossForwardOut(const Tensor& self, const Tensor& target, int64_t reduction,
                                                            Tensor& output, Tensor& is_target) {
  return writeSameTypes(multilabelMarginLossForward(self, target, reduction), output, is_target);
}
Tensor multilabelMarginLoss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return std::get<0>(boxcar::multilabel_margin_loss_forward(self, target, reduction));
}
Tensor& multilabelMarginLossOut(const Tensor& self, const Tensor& target, int64_t reduction, Tensor& out) {
  return writeSameType(out, multilabelMarginLoss(self, target, reduction));
}

// The buffer is what PyTorch's gradient of log_sigmoid reads.
Pair logSigmoidForward(const Tensor& self) {
  return {boxcar::log_sigmoid(self), boxcar::contiguous(boxcar::exp(boxcar::neg(boxcar::abs(self))))};
}
std::tuple<Tensor&, Tensor&> logSigmoidForwardOut(const Tensor& self, Tensor& output, Tensor& buffer) {
  return writeSameTypes(logSigmoidForward(self), output, buffer);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("poisson_nll_loss", BOXCAR_FN(poissonNllLoss));
  m.impl("margin_ranking_loss", BOXCAR_FN(marginRankingLoss));
  m.impl("cosine_embedding_loss", BOXCAR_FN(cosineEmbeddingLoss));
  m.impl("hinge_embedding_loss", BOXCAR_FN(hingeEmbeddingLoss));
  m.impl("triplet_margin_loss", BOXCAR_FN(tripletMarginLoss));
  m.impl("multilabel_margin_loss", BOXCAR_FN(multilabelMarginLoss));
  m.impl("multilabel_margin_loss.out", BOXCAR_FN(multilabelMarginLossOut));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("soft_margin_loss", BOXCAR_FN(softMarginLoss));
  m.impl("soft_margin_loss.out", BOXCAR_FN(softMarginLossOut));
  m.impl("multi_margin_loss", BOXCAR_FN(multiMarginLoss));
  m.impl("multi_margin_loss.out", BOXCAR_FN(multiMarginLossOut));
  m.impl("multilabel_margin_loss_forward", BOXCAR_FN(multilabelMarginLossForward));
  m.impl("multilabel_margin_loss_forward.output", BOXCAR_FN(multilabelMarginLossForwardOut));
  m.impl("log_sigmoid_forward", BOXCAR_FN(logSigmoidForward));
  m.impl("log_sigmoid_forward.output", BOXCAR_FN(logSigmoidForwardOut));
}

}  // namespace boxcar::composite
