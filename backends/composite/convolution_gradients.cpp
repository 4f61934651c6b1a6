#include <boxcar/backends/composite/output_mask.h>
#include <boxcar/backends/meta/convolution.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>

// Gradients of convolutions are convolutions, too.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;

// Returns [tensor] with at most [sizes] elements in each spatial dimension; what is left out is at the end.
Tensor cutTo(Tensor tensor, IntSpan sizes) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto dim = static_cast<int64_t>(i) + 2;
    if (tensor.size(dim) > sizes[i]) tensor = boxcar::narrow(tensor, dim, 0, sizes[i]);
  }
  return tensor;
}

// Each input element gets the gradients of all results that it takes part in: the convolution in the other direction.
Tensor gradientOfInput(const meta::Convolution& c, const Tensor& grad_output, const Tensor& input,
                       const Tensor& weight) {
  DimVector output_padding(c.rank(), 0);
  for (size_t i = 0; i < c.rank() && !c.transposed; ++i) {
    const int64_t padded = input.sizes()[i + 2] + 2 * c.padding[i];
    const int64_t reach = (weight.sizes()[i + 2] - 1) * c.dilation[i] + 1;
    output_padding[i] = padded - reach - (c.output_sizes[i + 2] - 1) * c.stride[i];
  }
  return cutTo(boxcar::convolution(grad_output, weight, std::nullopt, c.stride, c.padding, c.dilation, !c.transposed,
                                   output_padding, c.groups),
               input.sizes().subspan(2));
}

// The weight's gradient is the convolution of [signal], over which the weight moves, with [places], which has an
// element for each position of the weight. Steps of the weight become dilation and the reverse. Samples are summed up,
// so they take the role of channels.
Tensor gradientOfWeight(const meta::Convolution& c, const Tensor& signal, const Tensor& places, IntSpan weight_sizes) {
  const IntSpan kernel = weight_sizes.subspan(2);
  DimVector sizes = toDimVector(signal.sizes());
  sizes[1] /= c.groups;
  sizes.insert(sizes.begin() + 1, c.groups);
  Tensor by_channel = boxcar::flatten(boxcar::transpose(boxcar::reshape(signal, sizes), 0, 2), 1, 2);
  // The weight may not reach the last elements or the padding after them, which would make the result larger. Elements
  // are cut off; if the padding differs then at the two ends, and there is not more of it than elements, it is made
  // here.
  DimVector used;
  DimVector padding = c.padding;
  DimVector pads(2 * c.rank(), 0);
  bool differs = false;
  bool is_small = true;
  for (size_t i = 0; i < c.rank(); ++i) {
    const int64_t reach = (places.sizes()[i + 2] - 1) * c.stride[i] + (kernel[i] - 1) * c.dilation[i] + 1;
    used.push_back(std::max<int64_t>(reach - padding[i], 1));
    const int64_t left = std::min(used[i], signal.sizes()[i + 2]);
    const size_t pad = 2 * (c.rank() - 1 - i);
    pads[pad] = padding[i];
    pads[pad + 1] = reach - padding[i] - left;
    differs = differs || pads[pad + 1] != padding[i];
    is_small = is_small && padding[i] <= left && pads[pad + 1] >= 0;
  }
  by_channel = cutTo(by_channel, used);
  if (differs && is_small) {
    by_channel = boxcar::constant_pad_nd(by_channel, pads, 0);
    padding.assign(c.rank(), 0);
  }
  const Tensor result = boxcar::convolution(by_channel, boxcar::transpose(places, 0, 1), std::nullopt, c.dilation,
                                            padding, c.stride, /*transposed=*/false, DimVector(c.rank(), 0), c.groups);
  return boxcar::transpose(cutTo(result, kernel), 0, 1);
}

void checkConvolutionGradient(std::string_view op, const meta::Convolution& c, const Tensor& grad_output,
                              const Tensor& input) {
  BOXCAR_CHECK((input.is_floating_point() || input.is_complex()) && grad_output.scalar_type() == input.scalar_type(),
               "{}: expected grad_output and input of the same floating-point or complex dtype, but got {} and {}", op,
               dtypeName(grad_output.scalar_type()), dtypeName(input.scalar_type()));
  BOXCAR_CHECK(std::ranges::equal(grad_output.sizes(), c.output_sizes),
               "{}: grad_output must be of the size {} of the convolution's result, but it is of size {}", op,
               meta::listOf(c.output_sizes), meta::listOf(grad_output.sizes()));
  BOXCAR_CHECK(c.transposed || std::ranges::all_of(c.output_padding, [](int64_t n) { return n == 0; }),
               "{}: output_padding is only for transposed convolutions, but it is {}", op,
               meta::listOf(c.output_padding));
  BOXCAR_CHECK(std::ranges::all_of(input.sizes().subspan(2), [](int64_t n) { return n > 0; }),
               "{}: input must have no empty dimension except the batch and the channels, but it is of size {}", op,
               meta::listOf(input.sizes()));
}

// Gradients of complex products are those with the conjugate of the other factor.
Tensor conjugated(const Tensor& tensor) { return tensor.is_complex() ? boxcar::conj_physical(tensor) : tensor; }

// The gradient of a bias needs no [bias_sizes]: it has an element for each channel of the result.
std::tuple<Tensor, Tensor, Tensor> convolutionBackward(const Tensor& grad_output, const Tensor& input,
                                                       const Tensor& weight, std::optional<IntSpan> /*bias_sizes*/,
                                                       IntSpan stride, IntSpan padding, IntSpan dilation,
                                                       bool transposed, IntSpan output_padding, int64_t groups,
                                                       std::span<const bool> output_mask) {
  constexpr std::string_view kName = "convolution_backward";
  checkOutputMask(kName, output_mask);
  const meta::Convolution c =
      meta::checkConvolution(input, weight, Tensor(), stride, padding, dilation, transposed, output_padding, groups);
  checkConvolutionGradient(kName, c, grad_output, input);
  const bool is_empty = input.numel() == 0 || grad_output.numel() == 0;
  const bool channels_last = c.rank() == 2 && c.channels_last;
  const auto laidOut = [&](const Tensor& tensor) {
    return boxcar::contiguous(tensor, channels_last ? MemoryFormat::ChannelsLast : MemoryFormat::Contiguous);
  };
  std::tuple<Tensor, Tensor, Tensor> result;
  auto& [grad_input, grad_weight, grad_bias] = result;
  if (output_mask[0]) {
    grad_input =
        is_empty ? boxcar::zeros_like(input) : laidOut(gradientOfInput(c, grad_output, input, conjugated(weight)));
  }
  if (output_mask[1]) {
    const Tensor factor = conjugated(input);
    const Tensor& signal = transposed ? grad_output : factor;
    const Tensor& places = transposed ? factor : grad_output;
    grad_weight = is_empty ? boxcar::zeros_like(weight) : laidOut(gradientOfWeight(c, signal, places, weight.sizes()));
  }
  if (output_mask[2]) {
    DimVector dims = dimVector(int64_t{0});
    for (int64_t dim = 2; dim < grad_output.dim(); ++dim) dims.push_back(dim);
    grad_bias = boxcar::sum(grad_output, dims);
  }
  return result;
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("convolution_backward", BOXCAR_FN(convolutionBackward));
}

}  // namespace boxcar::composite
