#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/composite/output_mask.h>
#include <boxcar/backends/meta/factories.h>
#include <boxcar/backends/meta/normalization.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>

// Gradients of batch norm.

namespace boxcar::composite {
namespace {

using OptionalTensor = std::optional<Tensor>;
using BatchNormGradients = std::tuple<Tensor, Tensor, Tensor>;

// Returns [statistic], which must have an element for each channel.
const Tensor& checkedStatistic(std::string_view name, const OptionalTensor& statistic, int64_t channels, bool train) {
  const Tensor* const given = meta::givenTensor(statistic);
  BOXCAR_CHECK(given != nullptr && given->numel() == channels,
               "native_batch_norm_backward: {} must have an element for each of {} channels where train is {}, but it "
               "{}",
               name, channels, train ? "True" : "False",
               given == nullptr ? "is not given" : fmt::format("is of size {}", meta::listOf(given->sizes())));
  return *given;
}

BatchNormGradients nativeBatchNormBackward(const Tensor& grad_out, const Tensor& input, const OptionalTensor& weight,
                                           const OptionalTensor& running_mean, const OptionalTensor& running_var,
                                           const OptionalTensor& save_mean, const OptionalTensor& save_invstd,
                                           bool train, double eps, std::span<const bool> output_mask) {
  constexpr std::string_view kName = "native_batch_norm_backward";
  checkOutputMask(kName, output_mask);
  const Tensor* const given = meta::givenTensor(weight);
  BOXCAR_CHECK(input.dim() >= 2 && input.is_floating_point(),
               "{}: expected an input of floats of 2 dimensions at least, but got {} of size {}", kName,
               dtypeName(input.scalar_type()), meta::listOf(input.sizes()));
  BOXCAR_CHECK(grad_out.is_floating_point() && std::ranges::equal(grad_out.sizes(), input.sizes()),
               "{}: grad_out must be floats of the size of input, {}, but it is {} of size {}", kName,
               meta::listOf(input.sizes()), dtypeName(grad_out.scalar_type()), meta::listOf(grad_out.sizes()));
  const int64_t channels = input.size(1);
  BOXCAR_CHECK(given == nullptr || given->numel() == channels,
               "{}: weight must have an element for each of {} channels, but it is of size {}", kName, channels,
               given == nullptr ? "" : meta::listOf(given->sizes()));
  DimVector shape(static_cast<size_t>(input.dim()), 1);
  shape[1] = channels;
  const auto broadcast = [&](const Tensor& by_channel) { return boxcar::reshape(by_channel, shape); };
  Tensor mean;
  Tensor scale;
  if (train) {
    mean = widened(checkedStatistic("save_mean", save_mean, channels, train));
    scale = widened(checkedStatistic("save_invstd", save_invstd, channels, train));
  } else {
    mean = widened(checkedStatistic("running_mean", running_mean, channels, train));
    scale = boxcar::rsqrt(boxcar::add(widened(checkedStatistic("running_var", running_var, channels, train)), eps));
  }
  DimVector others = dimVector(int64_t{0});
  for (int64_t dim = 2; dim < input.dim(); ++dim) others.push_back(dim);

  const Tensor gradient = widened(grad_out);
  const bool needs_statistics = train && output_mask[0];
  Tensor centred;
  Tensor products;
  if (needs_statistics || output_mask[1]) {
    centred = boxcar::sub(widened(input), broadcast(mean));
    products = boxcar::mul(boxcar::sum(boxcar::mul(gradient, centred), others), scale);
  }
  Tensor sums;
  if (needs_statistics || output_mask[2]) sums = boxcar::sum(gradient, others);

  BatchNormGradients result;
  if (output_mask[0]) {
    const Tensor factor = given == nullptr ? scale : boxcar::mul(scale, boxcar::flatten(widened(*given)));
    Tensor of_input;
    if (train) {
      // What changes the mean or the variance of a channel does not change the result.
      const Tensor share = boxcar::div(factor, -(input.numel() / std::max<int64_t>(channels, 1)));
      of_input = boxcar::addcmul(broadcast(boxcar::mul(share, sums)), centred,
                                 broadcast(boxcar::mul(boxcar::mul(share, products), scale)));
      of_input = boxcar::addcmul(of_input, gradient, broadcast(factor));
    } else {
      of_input = boxcar::mul(gradient, broadcast(factor));
    }
    std::get<0>(result) = boxcar::contiguous(converted(of_input, input.scalar_type()), meta::formatOf(input));
  }
  const ScalarType type = given == nullptr ? input.scalar_type() : given->scalar_type();
  if (output_mask[1]) std::get<1>(result) = converted(products, type);
  if (output_mask[2]) std::get<2>(result) = converted(sums, type);
  return result;
}

BatchNormGradients batchNormBackward(const Tensor& grad_out, const Tensor& input, const Tensor& weight,
                                     const OptionalTensor& running_mean, const OptionalTensor& running_var,
                                     const OptionalTensor& save_mean, const OptionalTensor& save_var, bool update,
                                     double eps, std::span<const bool> output_mask, const Tensor& /*reserve*/) {
  return boxcar::native_batch_norm_backward(grad_out, input, weight, running_mean, running_var, save_mean, save_var,
                                            update, eps, output_mask);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("native_batch_norm_backward", BOXCAR_FN(nativeBatchNormBackward));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) { m.impl("batch_norm_backward", BOXCAR_FN(batchNormBackward)); }

}  // namespace boxcar::composite
