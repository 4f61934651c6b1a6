#include <boxcar/backends/cpu/convolution.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/backends/native/convolution.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/images.h>

#include <cstddef>
#include <optional>
#include <utility>

namespace boxcar::cpu {
namespace {

// Writes to [out], whose layout is given by the arguments.
void convolution(const meta::Convolution& arguments, const Tensor& out, const Tensor& input, const Tensor& weight,
                 const Tensor& bias) {
  if (const std::optional<SeenPixels> seen = seenPixels(arguments, input, weight)) {
    return convolution(seen->arguments, out, seen->input, weight, bias);
  }
  const Tensor source = inFormat(input, arguments.channels_last);
  const Tensor kernel = toContiguous(weight);
  const Tensor added = bias.defined() ? toContiguous(bias) : bias;
  if (convolveByLibrary({arguments, out, source, kernel, added})) return;
  const ScalarType type = out.scalar_type();
  if (type == ScalarType::Half || type == ScalarType::BFloat16) {
    const Tensor wide = meta::allocateSpatial(out.sizes(), arguments.channels_last, ScalarType::Float, out.device());
    convolution(arguments, wide, convertTo(source, ScalarType::Float), convertTo(kernel, ScalarType::Float),
                added.defined() ? convertTo(added, ScalarType::Float) : added);
    return copyElements(out, wide);
  }
  if (!arguments.channels_last) return convolveByColumns({arguments, out, source, kernel, added});
  const Tensor contiguous = Tensor::allocate(out.sizes(), type, out.device());
  convolveByColumns({arguments, contiguous, toContiguous(source), kernel, added});
  copyElements(out, contiguous);
}

}  // namespace

std::optional<SeenPixels> seenPixels(const meta::Convolution& arguments, const Tensor& input, const Tensor& weight) {
  bool steps = false;
  if (arguments.transposed || arguments.channels_last) return std::nullopt;
  for (size_t i = 0; i < arguments.rank(); ++i) {
    if (weight.sizes()[i + 2] != 1 || arguments.padding[i] != 0) return std::nullopt;
    steps = steps || arguments.stride[i] != 1;
  }
  if (!steps) return std::nullopt;
  meta::Convolution of_seen = arguments;
  DimVector sizes = toDimVector(input.sizes());
  DimVector strides = toDimVector(input.strides());
  for (size_t i = 0; i < arguments.rank(); ++i) {
    sizes[i + 2] = arguments.output_sizes[i + 2];
    if (sizes[i + 2] > 1) strides[i + 2] *= arguments.stride[i];
    of_seen.stride[i] = 1;
  }
  return SeenPixels{std::move(of_seen), input.view(sizes, strides, input.storage_offset())};
}

}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, convolve, cpu::convolution)

}  // namespace boxcar::native
