#include <boxcar/backends/meta/spatial.h>
#include <boxcar/backends/native/convolution.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>

#include <optional>
#include <span>

namespace boxcar::native {

constinit DeviceStub<ConvolutionFunction> convolve("convolution");

namespace {

using IntSpan = std::span<const int64_t>;

Tensor convolution(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntSpan stride,
                   IntSpan padding, IntSpan dilation, bool transposed, IntSpan output_padding, int64_t groups) {
  const Tensor added = bias.value_or(Tensor());
  const Device device =
      added.defined() ? checkSameDevice({&input, &weight, &added}) : checkSameDevice({&input, &weight});
  const meta::Convolution checked =
      meta::checkConvolution(input, weight, added, stride, padding, dilation, transposed, output_padding, groups);
  const bool is_signal = checked.rank() == 1;
  const meta::Convolution arguments = is_signal ? forImages(checked) : checked;
  Tensor out = meta::allocateSpatial(arguments.output_sizes, arguments.channels_last, input.scalar_type(), device);
  if (!out.is_meta() && out.numel() > 0) {
    if (is_signal) {
      convolve(device, arguments, out, meta::asImages(input), meta::asImages(weight), added);
    } else {
      convolve(device, arguments, out, input, weight, added);
    }
  }
  if (is_signal) dropRow(out, checked);
  return out;
}

}  // namespace

meta::Convolution forImages(const meta::Convolution& arguments) {
  meta::Convolution c = arguments;
  c.stride.insert(c.stride.begin(), 1);
  c.padding.insert(c.padding.begin(), 0);
  c.dilation.insert(c.dilation.begin(), 1);
  c.output_padding.insert(c.output_padding.begin(), 0);
  c.output_sizes.insert(c.output_sizes.begin() + 2, 1);
  return c;
}

void dropRow(const Tensor& out, const meta::Convolution& arguments) {
  const auto strides = out.strides();
  const int64_t signal_strides[] = {strides[0], strides[1], strides[3]};
  out.unsafeGetTensorImpl()->setShape(arguments.output_sizes, signal_strides, 0);
}

ConvolvedAxes convolvedAxes(const meta::Convolution& arguments, IntSpan input, IntSpan weight) {
  ConvolvedAxes axes;
  const size_t first = axes.size() - arguments.rank();
  for (size_t i = 0; i < arguments.rank(); ++i) {
    axes[first + i] = {input[i + 2],         weight[i + 2],         arguments.output_sizes[i + 2], arguments.stride[i],
                       arguments.padding[i], arguments.dilation[i], arguments.transposed};
  }
  return axes;
}

BOXCAR_NATIVE_KERNELS(aten, m, convolve) { m.impl("convolution", BOXCAR_FN(convolution)); }

}  // namespace boxcar::native
