#include <boxcar/backends/meta/class_losses.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/nll_loss.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>

#include <optional>
#include <tuple>

namespace boxcar::native {

constinit DeviceStub<ClassLossFunction> classLosses("nll_loss");

namespace {

using OptionalTensor = std::optional<Tensor>;
using Pair = std::tuple<Tensor, Tensor>;
using PairReference = std::tuple<Tensor&, Tensor&>;
using Check = meta::ClassLoss (*)(const Tensor&, const Tensor&, const Tensor&, int64_t);

Pair forward(Check check, const Tensor& self, const Tensor& target, const OptionalTensor& weight, int64_t reduction,
             int64_t ignore_index) {
  const Tensor given = weight.value_or(Tensor());
  const Device device = given.defined() ? checkSameDevice({&self, &target, &given}) : checkSameDevice({&self, &target});
  const meta::ClassLoss sizes = check(self, target, given, reduction);
  const ScalarType type = self.scalar_type();
  Pair result{Tensor::allocate(sizes.output_sizes, type, device), Tensor::allocate({}, type, device)};
  visitScalarType(kFloatingTypes, type, "nll_loss", [](auto) {});  // throws Error, naming the supported types
  if (device.is_meta()) return result;
  const Tensor source = toContiguous(self);
  const Tensor classes =
      toContiguous(target.scalar_type() == ScalarType::Long ? target : convertTo(target, ScalarType::Long));
  const Tensor weights = given.defined() ? toContiguous(given) : given;
  const bool sums = meta::lossReduction(reduction) != meta::LossReduction::kNone || self.dim() == 1;
  const bool is_mean = meta::lossReduction(reduction) == meta::LossReduction::kMean;
  classLosses(device, {sizes, source, classes, weights, ignore_index, sums, is_mean}, std::get<0>(result),
              std::get<1>(result));
  return result;
}

template <Check check>
Pair nllLoss(const Tensor& self, const Tensor& target, const OptionalTensor& weight, int64_t reduction,
             int64_t ignore_index) {
  return forward(check, self, target, weight, reduction, ignore_index);
}

template <Check check>
PairReference nllLossOut(const Tensor& self, const Tensor& target, const OptionalTensor& weight, int64_t reduction,
                         int64_t ignore_index, Tensor& output, Tensor& total_weight) {
  return writeSameTypes(output, total_weight, forward(check, self, target, weight, reduction, ignore_index),
                        {&self, &target});
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, classLosses) {
  m.impl("nll_loss_forward", BOXCAR_FN(nllLoss<meta::checkNllLoss>));
  m.impl("nll_loss_forward.output", BOXCAR_FN(nllLossOut<meta::checkNllLoss>));
  m.impl("nll_loss2d_forward", BOXCAR_FN(nllLoss<meta::checkNllLoss2d>));
  m.impl("nll_loss2d_forward.output", BOXCAR_FN(nllLossOut<meta::checkNllLoss2d>));
}

}  // namespace boxcar::native
