#include <boxcar/backends/meta/defined.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ops.h>

#include <optional>
#include <tuple>
#include <utility>

// The names under which PyTorch's programs call native_batch_norm.

namespace boxcar::composite {
namespace {

using OptionalTensor = std::optional<Tensor>;
using Normalized = std::tuple<Tensor, Tensor, Tensor>;
using NormalizedWithStatistics = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;
using NormalizedWithReserve = std::tuple<Tensor, Tensor, Tensor, Tensor>;

void checkStatistics(const Tensor& running_mean, const Tensor& running_var) {
  meta::checkDefined(running_mean);
  meta::checkDefined(running_var);
}

// native_batch_norm counts the writes: there are none without training.
struct BatchNormLegit {
  static constexpr WriteCount kWriteCount = WriteCount::kNever;
  Normalized operator()(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                        Tensor& running_mean, Tensor& running_var, bool training, double momentum, double eps) const {
    checkStatistics(running_mean, running_var);
    return boxcar::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps);
  }
};
NormalizedWithStatistics batchNormFunctional(const Tensor& input, const OptionalTensor& weight,
                                             const OptionalTensor& bias, const Tensor& running_mean,
                                             const Tensor& running_var, bool training, double momentum, double eps) {
  checkStatistics(running_mean, running_var);
  Tensor mean = boxcar::clone(running_mean);
  Tensor var = boxcar::clone(running_var);
  Normalized results = boxcar::native_batch_norm(input, weight, bias, mean, var, training, momentum, eps);
  return std::tuple_cat(std::move(results), std::tuple(std::move(mean), std::move(var)));
}
Normalized batchNormNoStats(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                            bool training, double momentum, double eps) {
  return boxcar::native_batch_norm(input, weight, bias, std::nullopt, std::nullopt, training, momentum, eps);
}
Normalized batchNormNoTraining(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                               const Tensor& running_mean, const Tensor& running_var, double momentum, double eps) {
  return boxcar::native_batch_norm(input, weight, bias, running_mean, running_var, /*training=*/false, momentum, eps);
}

// Appends what other devices reserve for the gradient.
NormalizedWithReserve withReserve(Normalized results) {
  auto& [out, mean, scale] = results;
  const Tensor reserve = boxcar::empty({0}, ScalarType::Byte, std::nullopt, out.device());
  return {std::move(out), std::move(mean), std::move(scale), reserve};
}

NormalizedWithReserve batchNormWithUpdate(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                                          Tensor& running_mean, Tensor& running_var, double momentum, double eps) {
  checkStatistics(running_mean, running_var);
  return withReserve(
      boxcar::native_batch_norm(input, weight, bias, running_mean, running_var, /*training=*/true, momentum, eps));
}
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> batchNormWithUpdateFunctional(
    const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias, const Tensor& running_mean,
    const Tensor& running_var, double momentum, double eps) {
  auto [out, save_mean, save_invstd, mean, var] =
      batchNormFunctional(input, weight, bias, running_mean, running_var, /*training=*/true, momentum, eps);
  return std::tuple_cat(withReserve({std::move(out), std::move(save_mean), std::move(save_invstd)}),
                        std::tuple(std::move(mean), std::move(var)));
}
NormalizedWithReserve batchNormNoUpdate(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                                        const OptionalTensor& running_mean, const OptionalTensor& running_var,
                                        double momentum, double eps) {
  return withReserve(
      boxcar::native_batch_norm(input, weight, bias, running_mean, running_var, /*training=*/false, momentum, eps));
}

// An input without elements has no statistics. Like PyTorch, this returns some of another type all the same; all are 0.
Normalized withoutElements(const Tensor& input, Tensor out) {
  const ScalarType type = native::isSmallFloat(input) ? ScalarType::Float : ScalarType::Double;
  const int64_t channels[] = {input.dim() >= 2 ? input.sizes()[1] : 0};
  const auto zeros = [&] { return boxcar::zeros(channels, type, std::nullopt, input.device()); };
  return {std::move(out), zeros(), zeros()};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, int64_t> batchNormIndexed(const Tensor& input, const OptionalTensor& weight,
                                                                     const OptionalTensor& bias,
                                                                     const OptionalTensor& running_mean,
                                                                     const OptionalTensor& running_var, bool training,
                                                                     double momentum, double eps, bool cudnn_enabled) {
  Normalized results =
      input.numel() > 0
          ? boxcar::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
          : withoutElements(input, boxcar::batch_norm(input, weight, bias, running_mean, running_var, training,
                                                      momentum, eps, cudnn_enabled));
  return std::tuple_cat(withReserve(std::move(results)), std::tuple(int64_t{0}));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("_native_batch_norm_legit", BatchNormLegit{});
  m.impl("_native_batch_norm_legit_functional", BOXCAR_FN(batchNormFunctional));
  m.impl("_native_batch_norm_legit.no_stats", BOXCAR_FN(batchNormNoStats));
  m.impl("_native_batch_norm_legit_no_training", BOXCAR_FN(batchNormNoTraining));
  m.impl("_batch_norm_with_update", BOXCAR_FN(batchNormWithUpdate));
  m.impl("_batch_norm_with_update_functional", BOXCAR_FN(batchNormWithUpdateFunctional));
  m.impl("_batch_norm_no_update", BOXCAR_FN(batchNormNoUpdate));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("_batch_norm_impl_index", BOXCAR_FN(batchNormIndexed));
}

}  // namespace boxcar::composite
