#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/composite/output_mask.h>
#include <boxcar/backends/meta/defined.h>
#include <boxcar/backends/meta/factories.h>
#include <boxcar/backends/meta/normalization.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/backends/native/batch_norm.h>
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
Tensor checkedStatistic(std::string_view name, const OptionalTensor& statistic, int64_t channels, bool train) {
  const Tensor* const given = meta::givenTensor(statistic);
  BOXCAR_CHECK(given != nullptr && given->numel() == channels,
               "native_batch_norm_backward: {} must have an element for each of {} channels where train is {}, but it "
               "{}",
               name, channels, train ? "True" : "False",
               given == nullptr ? "is not given" : fmt::format("is of size {}", meta::listOf(given->sizes())));
  return boxcar::flatten(widened(*given));
}

// The gradient and the input, and sums over all dimensions but that of the channels.
struct ChannelTensors {
  Tensor gradient;
  Tensor input;
  Tensor mean;
  native::ChannelLines lines{};
  bool at_once = false;  // whether the device has functions for it

  ChannelTensors(const Tensor& grad_out, const Tensor& x, const Tensor& means)
      : gradient(widened(grad_out)), input(widened(x)), mean(means) {
    const Device device = x.device();
    at_once = native::channelSums.has(device.type()) && x.numel() > 0 && gradient.device() == device &&
              mean.device() == device && gradient.scalar_type() == input.scalar_type() &&
              mean.scalar_type() == input.scalar_type();
    if (!at_once) return;
    const MemoryFormat format = meta::formatOf(x);
    gradient = boxcar::contiguous(gradient, format);
    input = boxcar::contiguous(input, format);
    mean = boxcar::contiguous(mean);
    const int64_t channels = x.size(1);
    const int64_t places = x.numel() / channels;
    const int64_t samples = format == MemoryFormat::Contiguous ? x.size(0) : places;
    lines = {samples, channels, places / samples};
  }

  Tensor broadcast(const Tensor& by_channel) const {
    DimVector shape(static_cast<size_t>(input.dim()), 1);
    shape[1] = by_channel.numel();
    return boxcar::reshape(by_channel, shape);
  }
  // Of the gradient, and of its products with what the input has above the mean.
  std::tuple<Tensor, Tensor> sums() const {
    if (at_once) {
      const Tensor sums = boxcar::empty_like(mean);
      const Tensor products = boxcar::empty_like(mean);
      native::channelSums(mean.device(), lines, gradient, input, mean, sums, products);
      return {sums, products};
    }
    DimVector others = dimVector(int64_t{0});
    for (int64_t dim = 2; dim < input.dim(); ++dim) others.push_back(dim);
    return {boxcar::sum(gradient, others),
            boxcar::sum(boxcar::mul(gradient, boxcar::sub(input, broadcast(mean))), others)};
  }
  // gradient * factor + (input - mean) * slope + constant
  Tensor blended(const Tensor& factor, const Tensor& slope, const Tensor& constant) const {
    if (at_once) {
      const auto prepared = [&](const Tensor& by_channel) {
        return boxcar::contiguous(converted(by_channel, input.scalar_type()));
      };
      const Tensor out = boxcar::empty_like(input);
      native::blendChannels(mean.device(), lines, gradient, input, prepared(factor), mean, prepared(slope),
                            prepared(constant), out);
      return out;
    }
    const Tensor centred = boxcar::sub(input, broadcast(mean));
    const Tensor shifted = boxcar::addcmul(broadcast(constant), centred, broadcast(slope));
    return boxcar::addcmul(shifted, gradient, broadcast(factor));
  }
};

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
  Tensor mean;
  Tensor scale;
  if (train) {
    mean = checkedStatistic("save_mean", save_mean, channels, train);
    scale = checkedStatistic("save_invstd", save_invstd, channels, train);
  } else {
    mean = checkedStatistic("running_mean", running_mean, channels, train);
    scale = boxcar::rsqrt(boxcar::add(checkedStatistic("running_var", running_var, channels, train), eps));
  }
  const ChannelTensors tensors(grad_out, input, mean);
  const bool needs_statistics = train && output_mask[0];
  Tensor sums;
  Tensor products;
  if (needs_statistics || output_mask[1] || output_mask[2]) {
    std::tie(sums, products) = tensors.sums();
    products = boxcar::mul(products, scale);
  }
  BatchNormGradients result;
  if (output_mask[0]) {
    const Tensor factor = given == nullptr ? scale : boxcar::mul(scale, boxcar::flatten(widened(*given)));
    Tensor of_input;
    if (train) {
      // What changes the mean or the variance of a channel does not change the result.
      const Tensor share = boxcar::div(factor, -(input.numel() / std::max<int64_t>(channels, 1)));
      of_input = tensors.blended(factor, boxcar::mul(boxcar::mul(share, products), scale), boxcar::mul(share, sums));
    } else {
      of_input = boxcar::mul(tensors.gradient, tensors.broadcast(factor));
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
                                     double eps, std::span<const bool> output_mask, const Tensor& reserve) {
  meta::checkDefined(weight);
  meta::checkDefined(reserve);
  return boxcar::native_batch_norm_backward(grad_out, input, weight, running_mean, running_var, save_mean, save_var,
                                            update, eps, output_mask);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("native_batch_norm_backward", BOXCAR_FN(nativeBatchNormBackward));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) { m.impl("batch_norm_backward", BOXCAR_FN(batchNormBackward)); }

}  // namespace boxcar::composite
