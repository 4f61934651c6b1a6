#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/composite/output_mask.h>
#include <boxcar/backends/meta/factories.h>
#include <boxcar/backends/meta/normalization.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/backends/native/layer_norm.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>

// Gradients of layer norm and group norm, from the means and the reciprocal standard deviations that they returned.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;
using OptionalTensor = std::optional<Tensor>;
using NormGradients = std::tuple<Tensor, Tensor, Tensor>;

// [weight] is null if there is none.
void checkNormGradient(std::string_view op, const Tensor& grad_out, const Tensor& input, const Tensor& mean,
                       const Tensor& rstd, const Tensor* weight, int64_t statistics) {
  BOXCAR_CHECK(grad_out.scalar_type() == input.scalar_type() && std::ranges::equal(grad_out.sizes(), input.sizes()),
               "{}: grad_out must have the dtype and the size of input, {} of size {}, but it is {} of size {}", op,
               dtypeName(input.scalar_type()), meta::listOf(input.sizes()), dtypeName(grad_out.scalar_type()),
               meta::listOf(grad_out.sizes()));
  BOXCAR_CHECK(mean.numel() == statistics && rstd.numel() == statistics,
               "{}: mean and rstd must have {} elements, but they are of size {} and {}", op, statistics,
               meta::listOf(mean.sizes()), meta::listOf(rstd.sizes()));
  const Tensor* const parameters[] = {weight, &mean, &rstd};
  meta::statisticsType(op, input, parameters);
}

// A normalised tensor as a view in which [means] and [scales], and [weight] if there is one, broadcast.
struct NormalizedView {
  Tensor gradient;
  Tensor scaled;  // (input - mean) * rstd
  Tensor scales;
  DimVector dims;  // that a mean is taken of

  // The view has [sizes].
  NormalizedView(const Tensor& grad_out, const Tensor& input, const Tensor& mean, const Tensor& rstd,
                 const DimVector& sizes, const DimVector& statistics, const DimVector& reduced)
      : gradient(boxcar::reshape(widened(grad_out), sizes)),
        scales(boxcar::reshape(widened(rstd), statistics)),
        dims(reduced) {
    const Tensor means = boxcar::reshape(widened(mean), statistics);
    scaled = boxcar::mul(boxcar::sub(boxcar::reshape(widened(input), sizes), means), scales);
  }

  // What changes the mean or the variance of the elements does not change the result.
  Tensor ofInput(const Tensor& weight) const {
    const Tensor weighted = weight.defined() ? boxcar::mul(gradient, widened(weight)) : gradient;
    const Tensor shift = boxcar::mean(weighted, dims, /*keepdim=*/true);
    const Tensor stretch = boxcar::mean(boxcar::mul(weighted, scaled), dims, /*keepdim=*/true);
    return boxcar::mul(boxcar::sub(boxcar::sub(weighted, shift), boxcar::mul(scaled, stretch)), scales);
  }
  Tensor ofWeight(const DimVector& others) const { return boxcar::sum(boxcar::mul(gradient, scaled), others); }
  Tensor ofBias(const DimVector& others) const { return boxcar::sum(gradient, others); }
};

// By the device's own function.
NormGradients layerNormGradientsAtOnce(const Tensor& grad_out, const Tensor& input, const Tensor& mean,
                                       const Tensor& rstd, const Tensor* const (&parameters)[2],
                                       const meta::LayerNorm& shape, std::span<const bool> output_mask) {
  const Device device = input.device();
  const ScalarType type = input.scalar_type() == ScalarType::Double ? ScalarType::Double : ScalarType::Float;
  const auto prepared = [&](const Tensor& tensor) {
    BOXCAR_CHECK(tensor.device() == device, "native_layer_norm_backward: all tensors must be on {}, but one is on {}",
                 toString(device), toString(tensor.device()));
    return boxcar::contiguous(converted(tensor, type));
  };
  const Tensor weight = parameters[0] == nullptr ? Tensor() : prepared(*parameters[0]);
  Tensor results[3];
  for (size_t i = 0; i < 3; ++i) {
    if (!output_mask[i]) continue;
    results[i] = boxcar::empty(i == 0 ? input.sizes() : parameters[i - 1]->sizes(), type, std::nullopt, device);
  }
  const auto given = [&](size_t i) { return results[i].defined() ? &results[i] : nullptr; };
  native::layerNormGradients(device,
                             {prepared(grad_out), prepared(input), prepared(mean), prepared(rstd),
                              weight.defined() ? &weight : nullptr, shape.rows, shape.length},
                             given(0), given(1), given(2));
  const auto finished = [&](size_t i, const Tensor* like) {
    return results[i].defined() ? converted(results[i], like->scalar_type()) : results[i];
  };
  return {finished(0, &input), finished(1, parameters[0]), finished(2, parameters[1])};
}

NormGradients nativeLayerNormBackward(const Tensor& grad_out, const Tensor& input, IntSpan normalized_shape,
                                      const Tensor& mean, const Tensor& rstd, const OptionalTensor& weight,
                                      const OptionalTensor& bias, std::span<const bool> output_mask) {
  constexpr std::string_view kName = "native_layer_norm_backward";
  checkOutputMask(kName, output_mask);
  const Tensor* const parameters[] = {meta::givenTensor(weight), meta::givenTensor(bias)};
  const meta::LayerNorm shape(input, normalized_shape, parameters[0], parameters[1]);
  checkNormGradient(kName, grad_out, input, mean, rstd, parameters[0], shape.rows);
  for (size_t i = 0; i < 2; ++i) {
    BOXCAR_CHECK(!output_mask[i + 1] || parameters[i] != nullptr,
                 "{}: output_mask asks for the gradient of {}, which is not given", kName, i == 0 ? "weight" : "bias");
  }
  if (native::layerNormGradients.has(input.device().type()) && input.numel() > 0) {
    return layerNormGradientsAtOnce(grad_out, input, mean, rstd, parameters, shape, output_mask);
  }
  const NormalizedView rows(grad_out, input, mean, rstd, dimVector(shape.rows, shape.length),
                            dimVector(shape.rows, int64_t{1}), dimVector(int64_t{1}));
  const DimVector others = dimVector(int64_t{0});
  const Tensor weights = parameters[0] == nullptr ? Tensor() : boxcar::reshape(*parameters[0], dimVector(shape.length));
  const auto shaped = [](const Tensor& gradient, const Tensor& like) {
    return boxcar::reshape(converted(gradient, like.scalar_type()), like.sizes());
  };
  NormGradients result;
  if (output_mask[0]) std::get<0>(result) = boxcar::contiguous(shaped(rows.ofInput(weights), input));
  if (output_mask[1]) std::get<1>(result) = shaped(rows.ofWeight(others), *parameters[0]);
  if (output_mask[2]) std::get<2>(result) = shaped(rows.ofBias(others), *parameters[1]);
  return result;
}

NormGradients nativeGroupNormBackward(const Tensor& grad_out, const Tensor& input, const Tensor& mean,
                                      const Tensor& rstd, const OptionalTensor& weight, int64_t samples,
                                      int64_t channels, int64_t length, int64_t groups,
                                      std::span<const bool> output_mask) {
  constexpr std::string_view kName = "native_group_norm_backward";
  checkOutputMask(kName, output_mask);
  const Tensor* const given = meta::givenTensor(weight);
  meta::checkGroupNorm(input, given, nullptr, channels, length, groups);
  meta::checkGroupNormElements(kName, input, samples, channels, length);
  checkNormGradient(kName, grad_out, input, mean, rstd, given, samples * groups);
  const int64_t size = channels / groups;
  const NormalizedView parts(grad_out, input, mean, rstd, dimVector(samples, groups, size, length),
                             dimVector(samples, groups, int64_t{1}, int64_t{1}), dimVector(int64_t{2}, int64_t{3}));
  const DimVector others = dimVector(int64_t{0}, int64_t{3});
  const ScalarType type = given == nullptr ? input.scalar_type() : given->scalar_type();
  const auto byChannel = [&](const Tensor& gradient) {
    return boxcar::reshape(converted(gradient, type), dimVector(channels));
  };
  NormGradients result;
  if (output_mask[0]) {
    const Tensor weights = given == nullptr ? Tensor() : boxcar::reshape(*given, dimVector(groups, size, int64_t{1}));
    const Tensor gradient = converted(parts.ofInput(weights), input.scalar_type());
    std::get<0>(result) = boxcar::contiguous(boxcar::reshape(gradient, input.sizes()), meta::formatOf(input));
  }
  if (output_mask[1]) std::get<1>(result) = byChannel(parts.ofWeight(others));
  if (output_mask[2]) std::get<2>(result) = byChannel(parts.ofBias(others));
  return result;
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("native_layer_norm_backward", BOXCAR_FN(nativeLayerNormBackward));
  m.impl("native_group_norm_backward", BOXCAR_FN(nativeGroupNormBackward));
}

}  // namespace boxcar::composite
