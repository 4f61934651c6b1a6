#include <boxcar/backends/cpu/convolution.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/pictures.h>
#include <boxcar/backends/dense/write_out.h>
#include <boxcar/backends/shape/spatial.h>
#include <boxcar/ivalue/error.h>

#include <optional>
#include <span>

namespace boxcar::cpu {
namespace {

using IntSpan = std::span<const int64_t>;

// Writes to [out], which lies as the arguments say.
void convolve(const shape::Convolution& arguments, const Tensor& out, const Tensor& input, const Tensor& weight,
              const Tensor& bias) {
  const Tensor source = inFormat(input, arguments.channels_last);
  const Tensor kernel = toContiguous(weight);
  const Tensor added = bias.defined() ? toContiguous(bias) : bias;
  if (convolveByLibrary({arguments, out, source, kernel, added})) return;
  const ScalarType type = out.scalar_type();
  if (type == ScalarType::Half || type == ScalarType::BFloat16) {
    const Tensor wide = shape::allocateSpatial(out.sizes(), arguments.channels_last, ScalarType::Float, out.device());
    convolve(arguments, wide, convertTo(source, ScalarType::Float), convertTo(kernel, ScalarType::Float),
             added.defined() ? convertTo(added, ScalarType::Float) : added);
    return copyElements(out, wide);
  }
  if (!arguments.channels_last) return convolveByColumns({arguments, out, source, kernel, added});
  const Tensor contiguous = Tensor::allocate(out.sizes(), type, out.device());
  convolveByColumns({arguments, contiguous, toContiguous(source), kernel, added});
  copyElements(out, contiguous);
}

// Arguments of one spatial dimension as those of two, the first of size 1.
shape::Convolution forPictures(const shape::Convolution& arguments) {
  shape::Convolution c = arguments;
  c.stride.insert(c.stride.begin(), 1);
  c.padding.insert(c.padding.begin(), 0);
  c.dilation.insert(c.dilation.begin(), 1);
  c.output_padding.insert(c.output_padding.begin(), 0);
  c.output_sizes.insert(c.output_sizes.begin() + 2, 1);
  return c;
}

Tensor convolution(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntSpan stride,
                   IntSpan padding, IntSpan dilation, bool transposed, IntSpan output_padding, int64_t groups) {
  const Tensor added = bias.value_or(Tensor());
  const Device device =
      added.defined() ? checkSameDevice({&input, &weight, &added}) : checkSameDevice({&input, &weight});
  const shape::Convolution checked =
      shape::checkConvolution(input, weight, added, stride, padding, dilation, transposed, output_padding, groups);
  const bool is_signal = checked.rank() == 1;
  const shape::Convolution arguments = is_signal ? forPictures(checked) : checked;
  Tensor out = shape::allocateSpatial(arguments.output_sizes, arguments.channels_last, input.scalar_type(), device);
  if (!out.is_meta() && out.numel() > 0) {
    if (is_signal) {
      convolve(arguments, out, shape::asPictures(input), shape::asPictures(weight), added);
    } else {
      convolve(arguments, out, input, weight, added);
    }
  }
  if (!is_signal) return out;
  const auto strides = out.strides();
  const int64_t signal_strides[] = {strides[0], strides[1], strides[3]};
  out.unsafeGetTensorImpl()->setShape(checked.output_sizes, signal_strides, 0);
  return out;
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) { m.impl("convolution", BOXCAR_FN(convolution)); }

}  // namespace boxcar::cpu
