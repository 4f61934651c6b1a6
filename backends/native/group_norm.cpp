#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/meta/normalization.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/group_norm.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>

#include <optional>
#include <tuple>

namespace boxcar::native {

constinit DeviceStub<GroupNormFunction> groupNormRows("group_norm");

namespace {

// float16 and bfloat16 are computed in float32.
std::tuple<Tensor, Tensor, Tensor> groupNorm(const Tensor& input, const std::optional<Tensor>& weight,
                                             const std::optional<Tensor>& bias, int64_t samples, int64_t channels,
                                             int64_t length, int64_t groups, double eps) {
  const Tensor* const parameters[] = {meta::givenTensor(weight), meta::givenTensor(bias)};
  checkDense(input);
  for (const Tensor* parameter : parameters) {
    if (parameter != nullptr) commonDevice({&input, parameter});
  }
  meta::checkGroupNorm(input, parameters[0], parameters[1], channels, length, groups);
  meta::checkGroupNormElements("native_group_norm", input, samples, channels, length);
  const ScalarType type = input.scalar_type();
  const ScalarType statistics_type = meta::statisticsType("group_norm", input, parameters);
  const ScalarType computed = type == ScalarType::Double ? type : ScalarType::Float;
  const Device device = input.device();
  Tensor out = Tensor::allocate(input.sizes(), computed, device);
  const int64_t statistics[] = {samples, groups};
  Tensor mean = Tensor::allocate(statistics, computed, device);
  Tensor scale = Tensor::allocate(statistics, computed, device);
  if (!input.is_meta()) {
    const Tensor source = toContiguous(input, computed);
    const Tensor weights = parameters[0] != nullptr ? toContiguous(*parameters[0], computed) : Tensor();
    const Tensor biases = parameters[1] != nullptr ? toContiguous(*parameters[1], computed) : Tensor();
    if (mean.numel() > 0) {
      groupNormRows(device, {source, weights, biases, samples, groups, channels / groups, length, eps}, out, mean,
                    scale);
    }
  }
  if (meta::isChannelsLast(input)) {
    const Tensor laid_out = meta::allocateStrided(input.sizes(), meta::denseStrides(input), type, device);
    copyElements(laid_out, out);
    out = laid_out;
  } else if (type != computed) {
    out = convertTo(out, type);
  }
  if (statistics_type != computed) {
    mean = convertTo(mean, statistics_type);
    scale = convertTo(scale, statistics_type);
  }
  return {std::move(out), std::move(mean), std::move(scale)};
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, groupNormRows) { m.impl("native_group_norm", BOXCAR_FN(groupNorm)); }

}  // namespace boxcar::native
