#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <optional>
#include <span>
#include <string_view>

// Convolutions over a given number of spatial dimensions, of single samples or batches.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;
using OptionalTensor = std::optional<Tensor>;

// The input as a batch, and whether it was one already.
struct Batch {
  Tensor input;
  bool was_batch;

  Tensor restore(const Tensor& result) const { return was_batch ? result : boxcar::squeeze(result, 0); }
};

Batch batchOf(const Tensor& input, int64_t rank, std::string_view op) {
  BOXCAR_CHECK(input.dim() == rank + 1 || input.dim() == rank + 2,
               "Expected {}D (unbatched) or {}D (batched) input to {}, but got input of size: {}", rank + 1, rank + 2,
               op, meta::listOf(input.sizes()));
  if (input.dim() == rank + 2) return {input, true};
  return {boxcar::unsqueeze(input, 0), false};
}

void checkWeight(const Tensor& weight, int64_t rank, std::string_view op) {
  BOXCAR_CHECK(weight.dim() == rank + 2, "Expected {}D weight for {}, but got weight of size: {}", rank + 2, op,
               meta::listOf(weight.sizes()));
}

constexpr std::string_view kNames[] = {"", "conv1d", "conv2d", "conv3d"};
constexpr std::string_view kTransposedNames[] = {"", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"};

template <size_t rank>
Tensor conv(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, IntSpan stride, IntSpan padding,
            IntSpan dilation, int64_t groups) {
  const Batch batch = batchOf(input, rank, kNames[rank]);
  checkWeight(weight, rank, kNames[rank]);
  const int64_t none[] = {0};
  return batch.restore(
      boxcar::convolution(batch.input, weight, bias, stride, padding, dilation, /*transposed=*/false, none, groups));
}

// Pads so that the result has the input's sizes; odd padding adds one more at the end.
template <size_t rank>
Tensor convSame(const Batch& batch, const Tensor& weight, const OptionalTensor& bias, IntSpan stride, IntSpan dilation,
                int64_t groups) {
  for (const int64_t step : stride) {
    BOXCAR_CHECK(step == 1, "padding='same' is not supported for strided convolutions, but stride is {}",
                 meta::listOf(stride));
  }
  const DimVector steps = meta::spatialArgument(kNames[rank], "dilation", dilation, rank, 1);
  int64_t padding[rank];
  int64_t further[2 * rank] = {};
  bool is_odd = false;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t kernel = weight.sizes()[i + 2];
    BOXCAR_CHECK(kernel >= 1, "{}: kernel sizes must be greater than zero, but weight has sizes {}", kNames[rank],
                 meta::listOf(weight.sizes()));
    const int64_t total = meta::windowReach(kNames[rank], kernel, steps[i]) - 1;
    padding[i] = total / 2;
    further[2 * (rank - 1 - i) + 1] = total % 2;
    is_odd = is_odd || total % 2 != 0;
  }
  const Tensor input = is_odd ? boxcar::constant_pad_nd(batch.input, further, 0) : batch.input;
  const int64_t none[] = {0};
  return boxcar::convolution(input, weight, bias, stride, padding, dilation, /*transposed=*/false, none, groups);
}

template <size_t rank>
Tensor convPadding(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, IntSpan stride,
                   std::string_view padding, IntSpan dilation, int64_t groups) {
  const Batch batch = batchOf(input, rank, kNames[rank]);
  checkWeight(weight, rank, kNames[rank]);
  if (padding == "same") return batch.restore(convSame<rank>(batch, weight, bias, stride, dilation, groups));
  BOXCAR_CHECK(padding == "valid", "{}: padding must be 'valid' or 'same', but it is '{}'", kNames[rank], padding);
  const int64_t none[] = {0};
  return batch.restore(
      boxcar::convolution(batch.input, weight, bias, stride, none, dilation, /*transposed=*/false, none, groups));
}

Tensor convolutionMode(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, IntSpan stride,
                       std::string_view padding, IntSpan dilation, int64_t groups) {
  BOXCAR_CHECK(weight.dim() >= 3 && weight.dim() <= 5 && input.dim() == weight.dim(),
               "_convolution_mode: expected input and weight of the same 3 to 5 dimensions, but got sizes {} and {}",
               meta::listOf(input.sizes()), meta::listOf(weight.sizes()));
  if (weight.dim() == 3) return convPadding<1>(input, weight, bias, stride, padding, dilation, groups);
  if (weight.dim() == 4) return convPadding<2>(input, weight, bias, stride, padding, dilation, groups);
  return convPadding<3>(input, weight, bias, stride, padding, dilation, groups);
}

template <size_t rank>
Tensor convTranspose(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, IntSpan stride,
                     IntSpan padding, IntSpan output_padding, int64_t groups, IntSpan dilation) {
  const Batch batch = batchOf(input, rank, kTransposedNames[rank]);
  checkWeight(weight, rank, kTransposedNames[rank]);
  return batch.restore(boxcar::convolution(batch.input, weight, bias, stride, padding, dilation, /*transposed=*/true,
                                           output_padding, groups));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("conv1d", BOXCAR_FN(conv<1>));
  m.impl("conv2d", BOXCAR_FN(conv<2>));
  m.impl("conv3d", BOXCAR_FN(conv<3>));
  m.impl("conv1d.padding", BOXCAR_FN(convPadding<1>));
  m.impl("conv2d.padding", BOXCAR_FN(convPadding<2>));
  m.impl("conv3d.padding", BOXCAR_FN(convPadding<3>));
  m.impl("_convolution_mode", BOXCAR_FN(convolutionMode));
  m.impl("conv_transpose1d", BOXCAR_FN(convTranspose<1>));
  m.impl("conv_transpose2d.input", BOXCAR_FN(convTranspose<2>));
  m.impl("conv_transpose3d.input", BOXCAR_FN(convTranspose<3>));
}

}  // namespace boxcar::composite
