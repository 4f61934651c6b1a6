#include <boxcar/backends/composite/reduced_loss.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <optional>

// Losses built from other operators.

namespace boxcar::composite {
namespace {

Tensor l1Loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return reducedLoss(boxcar::abs(boxcar::sub(self, target)), reduction);
}

Tensor klDiv(const Tensor& self, const Tensor& target, int64_t reduction, bool log_target) {
  for (const Tensor* input : {&self, &target}) {
    BOXCAR_CHECK(!input->is_complex(), "kl_div: Complex inputs not supported.");
    BOXCAR_CHECK(!isIntegralType(input->scalar_type(), /*includeBool=*/true), "kl_div: Integral inputs not supported.");
  }
  if (log_target) return reducedLoss(boxcar::mul(boxcar::exp(target), boxcar::sub(target, self)), reduction);
  return reducedLoss(boxcar::sub(boxcar::xlogy(target, target), boxcar::mul(target, self)), reduction);
}

// (1 - target) x - log_weight log(sigmoid(x)), where log_weight is 1 + (pos_weight - 1) target.
Tensor binaryCrossEntropyWithLogits(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                                    const std::optional<Tensor>& pos_weight, int64_t reduction) {
  Tensor likelihood = boxcar::log_sigmoid(self);
  if (pos_weight.has_value() && pos_weight->defined()) {
    likelihood = boxcar::mul(likelihood, boxcar::add(boxcar::mul(boxcar::sub(*pos_weight, 1), target), 1));
  }
  Tensor loss = boxcar::sub(boxcar::mul(boxcar::rsub(target, 1), self), likelihood);
  if (weight.has_value() && weight->defined()) loss = boxcar::mul(loss, *weight);
  return reducedLoss(loss, reduction);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("l1_loss", BOXCAR_FN(l1Loss));
  m.impl("kl_div", BOXCAR_FN(klDiv));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("binary_cross_entropy_with_logits", BOXCAR_FN(binaryCrossEntropyWithLogits));
}

}  // namespace boxcar::composite
