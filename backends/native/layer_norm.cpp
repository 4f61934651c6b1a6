#include <boxcar/backends/meta/normalization.h>
#include <boxcar/backends/native/layer_norm.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>

#include <optional>
#include <span>
#include <tuple>
#include <utility>

namespace boxcar::native {

constinit DeviceStub<LayerNormFunction> layerNormRows("layer_norm");
constinit DeviceStub<RmsNormFunction> rmsNormRows("rms_norm");
constinit DeviceStub<LayerNormGradientFunction> layerNormGradients("native_layer_norm_backward");

namespace {

std::tuple<Tensor, Tensor, Tensor> layerNorm(const Tensor& input, std::span<const int64_t> normalized_shape,
                                             const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                                             double eps) {
  const Tensor* const parameters[] = {meta::givenTensor(weight), meta::givenTensor(bias)};
  checkDense(input);
  for (const Tensor* parameter : parameters) {
    if (parameter != nullptr) commonDevice({&input, parameter});
  }
  const meta::LayerNorm shape(input, normalized_shape, parameters[0], parameters[1]);
  const ScalarType type = input.scalar_type();
  const ScalarType statistics_type = meta::statisticsType("layer_norm", input, parameters);
  const Device device = input.device();
  Tensor out = Tensor::allocate(input.sizes(), type, device);
  Tensor mean = Tensor::allocate(shape.statistics, statistics_type, device);
  Tensor scale = Tensor::allocate(shape.statistics, statistics_type, device);
  if (!input.is_meta() && mean.numel() > 0) {
    layerNormRows(device, {input, parameters[0], parameters[1], shape.rows, shape.length, eps}, out, mean, scale);
  }
  return {std::move(out), std::move(mean), std::move(scale)};
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, layerNormRows) { m.impl("native_layer_norm", BOXCAR_FN(layerNorm)); }

}  // namespace boxcar::native
