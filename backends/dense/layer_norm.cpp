#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/layer_norm.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/registration.h>
#include <boxcar/backends/shape/normalization.h>

#include <optional>
#include <span>
#include <tuple>
#include <utility>

namespace boxcar::dense {
namespace {

std::tuple<Tensor, Tensor, Tensor> layerNorm(const Tensor& input, std::span<const int64_t> normalized_shape,
                                             const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                                             double eps) {
  const Tensor* const parameters[] = {shape::givenTensor(weight), shape::givenTensor(bias)};
  checkDense(input);
  for (const Tensor* parameter : parameters) {
    if (parameter != nullptr) commonDevice({&input, parameter});
  }
  const shape::LayerNorm shape(input, normalized_shape, parameters[0], parameters[1]);
  const ScalarType type = input.scalar_type();
  const ScalarType statistics_type = shape::statisticsType("layer_norm", input, parameters);
  const ScalarType computed = type == ScalarType::Double ? type : ScalarType::Float;
  const Device device = input.device();
  Tensor out = Tensor::allocate(input.sizes(), type, device);
  Tensor mean = Tensor::allocate(shape.statistics, computed, device);
  Tensor scale = Tensor::allocate(shape.statistics, computed, device);
  if (!input.is_meta() && mean.numel() > 0) {
    layerNormRows(device, {input, parameters[0], parameters[1], shape.rows, shape.length, eps}, out, mean, scale);
  }
  if (statistics_type != computed) {
    mean = convertTo(mean, statistics_type);
    scale = convertTo(scale, statistics_type);
  }
  return {std::move(out), std::move(mean), std::move(scale)};
}

}  // namespace

BOXCAR_DENSE_KERNELS(aten, m, layerNormRows) { m.impl("native_layer_norm", BOXCAR_FN(layerNorm)); }

}  // namespace boxcar::dense
