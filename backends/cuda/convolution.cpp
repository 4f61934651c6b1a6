#include <boxcar/backends/cuda/convolution.h>
#include <boxcar/backends/cuda/image_kernels.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/native/convolution.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/images.h>
#include <boxcar/backends/native/products.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <climits>

namespace boxcar::cuda {
namespace {

using native::inFormat;
using native::toContiguous;

// Maximum bytes of columns at a time.
constexpr int64_t kColumnBytes = int64_t{64} << 20;

// Convolves by cuDNN, which counts a tensor's elements with 31 bits, so it is called for as many samples at a time as
// that allows. Returns false, with no valid output in [out], if cuDNN does not support the call.
bool convolveByLibrary(const meta::Convolution& arguments, const Tensor& out, const Tensor& input, const Tensor& weight,
                       bool accumulates) {
  const Tensor source = inFormat(input, arguments.channels_last);
  const Tensor kernels = inFormat(weight, arguments.channels_last);
  const int64_t samples = out.sizes()[0];
  const int64_t in_elements = source.numel() / samples;
  const int64_t out_elements = out.numel() / samples;
  const int64_t most = INT_MAX / std::max(in_elements, out_elements);
  if (most == 0 || kernels.numel() > INT_MAX) return false;
  const auto itemsize = static_cast<int64_t>(out.itemsize());
  ConvolutionCall call{arguments,
                       out.scalar_type(),
                       toDimVector(source.sizes()),
                       toDimVector(kernels.sizes()),
                       nullptr,
                       kernels.data_ptr(),
                       nullptr,
                       accumulates,
                       recording()};
  for (int64_t first = 0; first < samples; first += most) {
    call.input_sizes[0] = call.arguments.output_sizes[0] = std::min(most, samples - first);
    call.input = static_cast<const char*>(source.data_ptr()) + first * in_elements * itemsize;
    call.out = static_cast<char*>(out.data_ptr()) + first * out_elements * itemsize;
    if (!module().convolve(call)) return false;
  }
  return true;
}

// Returns a view of [tensor], which is contiguous, starting at element [first].
Tensor viewOf(const Tensor& tensor, int64_t first, const std::array<int64_t, 3>& sizes,
              const std::array<int64_t, 3>& strides) {
  return tensor.view(sizes, strides, tensor.storage_offset() + first);
}

// Converts the weight of a transposed convolution, [C, O/groups, …], to that of a regular one: [O, C/groups, …].
Tensor withOutputsFirst(const Tensor& weight, int64_t groups) {
  const int64_t inputs = weight.sizes()[0] / groups;
  const int64_t outputs = weight.sizes()[1];
  const int64_t taps = numelOf(weight.sizes().subspan(2));
  const int64_t sizes[] = {groups, outputs, inputs, taps};
  const int64_t strides[] = {inputs * outputs * taps, taps, outputs * taps, 1};
  return native::contiguousCopy(weight.view(sizes, strides, weight.storage_offset()));
}

// Adds the product of the kernels (one per row) and the windows (one per column) to [out], which is contiguous. For
// elements of any type.
void convolveByColumns(const meta::Convolution& arguments, const Tensor& out, const Tensor& input,
                       const Tensor& weight) {
  const Tensor source = toContiguous(input);
  const int64_t groups = arguments.groups;
  const native::ConvolvedAxes axes = native::convolvedAxes(arguments, source.sizes(), weight.sizes());
  const Tensor kernels = arguments.transposed ? withOutputsFirst(toContiguous(weight), groups) : toContiguous(weight);
  const int64_t channels = source.sizes()[1];
  const int64_t taps = numelOf(weight.sizes().subspan(2));
  const int64_t depth = channels / groups * taps;
  const int64_t outputs = out.sizes()[1] / groups;
  const int64_t in_pixels = numelOf(source.sizes().subspan(2));
  const int64_t out_pixels = numelOf(out.sizes().subspan(2));
  const auto itemsize = static_cast<int64_t>(out.itemsize());

  const int64_t most = std::clamp<int64_t>(kColumnBytes / (channels * taps * itemsize), 1, out_pixels);
  const int64_t columns_size[] = {channels * taps * most};
  const Tensor columns = Tensor::allocate(columns_size, out.scalar_type(), out.device());
  const Tensor rows = viewOf(kernels, 0, {groups, outputs, depth}, {outputs * depth, depth, 1});
  ColumnsLaunch launch{nullptr, columns.data_ptr(), out.itemsize(), {axes[0], axes[1], axes[2]}, channels, 0, 0};
  for (int64_t sample = 0; sample < out.sizes()[0]; ++sample) {
    launch.in = static_cast<const char*>(source.data_ptr()) + sample * channels * in_pixels * itemsize;
    for (launch.begin = 0; launch.begin < out_pixels; launch.begin += most) {
      launch.count = std::min(most, out_pixels - launch.begin);
      module().convolution_columns(launch);
      const Tensor target = viewOf(out, sample * groups * outputs * out_pixels + launch.begin,
                                   {groups, outputs, launch.count}, {outputs * out_pixels, out_pixels, 1});
      const Tensor windows = viewOf(columns, 0, {groups, depth, launch.count}, {depth * launch.count, launch.count, 1});
      native::multiplyMatrices(out.device(), target, rows, windows, 1, 1);
    }
  }
}

// The bias: the initial value of a convolution's result, or what is added afterwards.
struct Bias {
  Tensor along_channels;  // broadcasts to the result; undefined when there is none

  Bias(const Tensor& bias, int64_t rank) {
    if (!bias.defined()) return;
    DimVector sizes(static_cast<size_t>(rank - 1), 1);
    DimVector strides(sizes.size(), 0);
    sizes[0] = bias.numel();
    strides[0] = bias.strides()[0];
    along_channels = bias.view(sizes, strides, bias.storage_offset());
  }
  void fill(Tensor out) const {
    along_channels.defined() ? native::copyElements(out, along_channels) : static_cast<void>(boxcar::zero_(out));
  }
  void addTo(Tensor out) const {
    if (along_channels.defined()) boxcar::add_(out, along_channels);
  }
};

void convolution(const meta::Convolution& arguments, const Tensor& out, const Tensor& input, const Tensor& weight,
                 const Tensor& given_bias) {
  const Bias bias(given_bias, out.dim());
  if (input.numel() == 0 || weight.numel() == 0) return bias.fill(out);  // empty sums
  if (isFloatingType(out.scalar_type())) {
    // Float16 and bfloat16 sums are rounded once, including the bias, if cuDNN can do that.
    if (given_bias.defined() && native::isSmallFloat(out)) {
      bias.fill(out);
      if (convolveByLibrary(arguments, out, input, weight, /*accumulates=*/true)) return;
    }
    if (convolveByLibrary(arguments, out, input, weight, /*accumulates=*/false)) return bias.addTo(out);
  }
  const Tensor sums = out.is_contiguous() ? out : Tensor::allocate(out.sizes(), out.scalar_type(), out.device());
  bias.fill(sums);
  convolveByColumns(arguments, sums, input, weight);
  if (!sums.is_same(out)) native::copyElements(out, sums);
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::convolve, convolution)

}  // namespace boxcar::cuda
