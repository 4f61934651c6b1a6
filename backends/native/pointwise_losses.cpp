#include <boxcar/backends/functors/pointwise_losses.h>
#include <boxcar/backends/meta/loss_reduction.h>
#include <boxcar/backends/native/pointwise.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace boxcar::native {
namespace {

constexpr Pointwise kMseLoss = makePointwise<MseLoss, 2, Result::kSame>("mse_loss", kFloatingTypes);

constexpr Pointwise kSmoothL1Loss = makePointwise<SmoothL1Loss, 2, Result::kSame>("smooth_l1_loss", kFloatingTypes);

constexpr Pointwise kHuberLoss = makePointwise<HuberLoss, 2, Result::kSame>("huber_loss", kFloatingTypes);

constexpr Pointwise kBinaryCrossEntropy =
    makePointwise<BinaryCrossEntropy, 2, Result::kSame>("binary_cross_entropy", kFloatingTypes);

Tensor reduced(const Tensor& loss, int64_t reduction) {
  switch (meta::toReduction(reduction)) {
    case meta::Reduction::kMean: return boxcar::mean(loss);
    case meta::Reduction::kSum: return boxcar::sum(loss);
    default: return loss;
  }
}

Tensor mseLoss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return reduced(pointwise(kMseLoss, {self, target}), reduction);
}

Tensor& mseLossOut(const Tensor& self, const Tensor& target, int64_t reduction, Tensor& out) {
  return writeResult(out, mseLoss(self, target, reduction));
}

Tensor smoothL1Loss(const Tensor& self, const Tensor& target, int64_t reduction, double beta) {
  BOXCAR_CHECK(beta >= 0, "smooth_l1_loss does not support negative values for beta, here {}.", beta);
  const Scalar param = beta;
  return reduced(pointwise(kSmoothL1Loss, {self, target}, &param), reduction);
}

Tensor& smoothL1LossOut(const Tensor& self, const Tensor& target, int64_t reduction, double beta, Tensor& out) {
  return writeResult(out, smoothL1Loss(self, target, reduction, beta));
}

Tensor huberLoss(const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  BOXCAR_CHECK(delta > 0, "huber_loss does not support non-positive values for delta, here {}.", delta);
  const Scalar param = delta;
  return reduced(pointwise(kHuberLoss, {self, target}, &param), reduction);
}

Tensor& huberLossOut(const Tensor& self, const Tensor& target, int64_t reduction, double delta, Tensor& out) {
  return writeResult(out, huberLoss(self, target, reduction, delta));
}

Tensor binaryCrossEntropy(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                          int64_t reduction) {
  BOXCAR_CHECK(self.scalar_type() == target.scalar_type(),
               "binary_cross_entropy: the target's dtype {} is not the input's, {}", target.scalar_type(),
               self.scalar_type());
  BOXCAR_CHECK(std::ranges::equal(self.sizes(), target.sizes()),
               "binary_cross_entropy: the target's size [{}] is not the input's, [{}]", fmt::join(target.sizes(), ", "),
               fmt::join(self.sizes(), ", "));
  Tensor loss = pointwise(kBinaryCrossEntropy, {self, target});
  if (weight.has_value() && weight->defined()) boxcar::mul_(loss, *weight);
  return reduced(loss, reduction);
}

Tensor& binaryCrossEntropyOut(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                              int64_t reduction, Tensor& out) {
  return writeSameType(out, binaryCrossEntropy(self, target, weight, reduction), {}, Overlap::kAllowed);
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, runPointwise) {
  m.impl("mse_loss", BOXCAR_FN(mseLoss));
  m.impl("mse_loss.out", BOXCAR_FN(mseLossOut));
  m.impl("smooth_l1_loss", BOXCAR_FN(smoothL1Loss));
  m.impl("smooth_l1_loss.out", BOXCAR_FN(smoothL1LossOut));
  m.impl("huber_loss", BOXCAR_FN(huberLoss));
  m.impl("huber_loss.out", BOXCAR_FN(huberLossOut));
  m.impl("binary_cross_entropy", BOXCAR_FN(binaryCrossEntropy));
  m.impl("binary_cross_entropy.out", BOXCAR_FN(binaryCrossEntropyOut));
}

}  // namespace boxcar::native
