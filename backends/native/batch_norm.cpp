#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/meta/normalization.h>
#include <boxcar/backends/meta/reduction.h>
#include <boxcar/backends/native/batch_norm.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <optional>
#include <tuple>

namespace boxcar::native {

constinit DeviceStub<BatchNormFunction> normalizeChannels("batch_norm");
constinit DeviceStub<ChannelSumFunction> channelSums("native_batch_norm_backward");
constinit DeviceStub<ChannelBlendFunction> blendChannels("native_batch_norm_backward");

namespace {

using OptionalTensor = std::optional<Tensor>;

// Returns the type of the statistics.
ScalarType check(const BatchNormCall& call) {
  const Tensor& input = call.input;
  checkDense(input);
  BOXCAR_CHECK(input.dim() >= 2, "batch_norm: expected an input of 2 dimensions at least, got one of shape [{}]",
               fmt::join(input.sizes(), ", "));
  const Tensor* const parameters[] = {call.weight, call.bias, call.running_mean, call.running_var};
  for (const Tensor* parameter : parameters) {
    if (parameter != nullptr) commonDevice({&input, parameter});
  }
  BOXCAR_CHECK(call.training || (call.running_mean != nullptr && call.running_var != nullptr),
               "Expected running_mean and running_var to be defined when training=False");
  meta::checkChannels({call.weight, call.bias, call.running_mean, call.running_var}, call.channels());
  BOXCAR_CHECK(!call.training || input.numel() > 0,
               "batch_norm: in training the input must have at least one element, but its shape is [{}]",
               fmt::join(input.sizes(), ", "));
  if (call.training) meta::checkRunningStatistics({call.weight, call.bias, call.running_mean, call.running_var}, input);
  return meta::statisticsType("batch_norm", input, parameters);
}

// Whether the result is channels-last, like the input; else it is contiguous.
bool keepsChannelsLast(const Tensor& input) { return !input.is_contiguous() && meta::isChannelsLast(input); }

Tensor allocateResult(const Tensor& input) {
  const ScalarType type = input.scalar_type();
  if (!keepsChannelsLast(input)) return Tensor::allocate(input.sizes(), type, input.device());
  return meta::allocateStrided(input.sizes(), meta::denseStrides(input), type, input.device());
}

std::tuple<Tensor, Tensor, Tensor> run(const BatchNormCall& call) {
  const ScalarType statistics_type = check(call);
  const Tensor& input = call.input;
  const Device device = input.device();
  const int64_t statistics[] = {call.training ? call.channels() : 0};
  Tensor mean = Tensor::allocate(statistics, statistics_type, device);
  Tensor scale = Tensor::allocate(statistics, statistics_type, device);
  if (input.is_meta()) return {allocateResult(input), std::move(mean), std::move(scale)};
  const bool is_laid_out =
      input.is_contiguous() || (meta::isChannelsLast(input) && meta::isDense(input.sizes(), input.strides()));
  const Tensor source = is_laid_out ? input : toContiguous(input);
  Tensor out = meta::allocateStrided(source.sizes(), source.strides(), input.scalar_type(), device);
  normalizeChannels(
      device,
      {source, call.weight, call.bias, call.running_mean, call.running_var, call.training, call.momentum, call.eps},
      out, mean, scale);
  if (call.training && call.running_mean != nullptr) call.running_mean->storage()->bumpVersion();
  if (call.training && call.running_var != nullptr) call.running_var->storage()->bumpVersion();
  if (source.is_contiguous() == keepsChannelsLast(input)) {
    const Tensor laid_out = allocateResult(input);
    copyElements(laid_out, out);
    out = laid_out;
  }
  return {std::move(out), std::move(mean), std::move(scale)};
}

std::tuple<Tensor, Tensor, Tensor> batchNorm(const Tensor& input, const OptionalTensor& weight,
                                             const OptionalTensor& bias, const OptionalTensor& running_mean,
                                             const OptionalTensor& running_var, bool training, double momentum,
                                             double eps) {
  return run({input, meta::givenTensor(weight), meta::givenTensor(bias), meta::givenTensor(running_mean),
              meta::givenTensor(running_var), training, momentum, eps});
}

std::tuple<Tensor&, Tensor&, Tensor&> batchNormOut(const Tensor& input, const OptionalTensor& weight,
                                                   const OptionalTensor& bias, const OptionalTensor& running_mean,
                                                   const OptionalTensor& running_var, bool training, double momentum,
                                                   double eps, Tensor& out, Tensor& save_mean, Tensor& save_invstd) {
  meta::checkOutType("native_batch_norm", out, input.scalar_type());
  const BatchNormCall call{input,
                           meta::givenTensor(weight),
                           meta::givenTensor(bias),
                           meta::givenTensor(running_mean),
                           meta::givenTensor(running_var),
                           training,
                           momentum,
                           eps};
  // The computation changes running statistics, so check the outputs before it.
  const ScalarType statistics_type = check(call);
  const int64_t statistics[] = {training ? call.channels() : 0};
  const auto castable = meta::OutputType::kCastable;
  const meta::Output outputs[] = {{out, input.sizes(), meta::denseStrides(input), input.scalar_type(), input.device()},
                                  {save_mean, statistics, {1}, statistics_type, input.device(), castable},
                                  {save_invstd, statistics, {1}, statistics_type, input.device(), castable}};
  meta::checkOutputs(outputs, {}, Overlap::kAllowed);
  for (const Tensor* const running : {call.running_mean, call.running_var}) {
    if (!training || running == nullptr) continue;
    for (const meta::Output& output : outputs) meta::checkRead(output, *running, Overlap::kRefused);
  }
  meta::growStorages(outputs);  // an output that cannot grow is refused here
  const auto [result, mean, scale] = run(call);
  writeAll({{out, result}, {save_mean, mean, castable}, {save_invstd, scale, castable}}, {}, Overlap::kAllowed);
  return {out, save_mean, save_invstd};
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, normalizeChannels) {
  m.impl("native_batch_norm", BOXCAR_FN(batchNorm));
  m.impl("native_batch_norm.out", BOXCAR_FN(batchNormOut));
}

}  // namespace boxcar::native
