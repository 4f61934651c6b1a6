#include <boxcar/backends/meta/convolution.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/ivalue/error.h>

namespace boxcar::meta {
namespace {

constexpr const char* kName = "convolution";

void checkTypes(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  BOXCAR_CHECK(input.scalar_type() == weight.scalar_type(),
               "convolution: input and weight must have the same dtype, but they have {} and {}", input.scalar_type(),
               weight.scalar_type());
  BOXCAR_CHECK(!bias.defined() || bias.scalar_type() == input.scalar_type(),
               "convolution: input and bias must have the same dtype, but they have {} and {}", input.scalar_type(),
               bias.scalar_type());
  BOXCAR_CHECK(input.scalar_type() != ScalarType::Bool,
               "convolution does not take dtype bool; convert input and weight to a number type first");
}

void checkRank(const Tensor& input, const Tensor& weight) {
  BOXCAR_CHECK(weight.dim() >= 3 && weight.dim() <= 5,
               "convolution: weight must have 3, 4 or 5 dimensions, for 1 to 3 spatial ones, but its sizes are {}",
               listOf(weight.sizes()));
  BOXCAR_CHECK(input.dim() == weight.dim(),
               "convolution: expected {}-dimensional input for {}-dimensional weight {}, but got {}-dimensional input "
               "of size {} instead",
               weight.dim(), weight.dim(), listOf(weight.sizes()), input.dim(), listOf(input.sizes()));
}

// Returns the number of channels of the result; throws Error if the channels do not match.
int64_t checkChannels(const Tensor& input, const Tensor& weight, const Tensor& bias, bool transposed, int64_t groups) {
  const int64_t first = weight.sizes()[0];
  const int64_t second = weight.sizes()[1];
  BOXCAR_CHECK(groups >= 1, "convolution: groups must be positive, but it is {}", groups);
  BOXCAR_CHECK(first >= groups,
               "Given groups={}, expected weight to be at least {} at dimension 0, but got weight of "
               "size {} instead",
               groups, groups, listOf(weight.sizes()));
  BOXCAR_CHECK(
      first % groups == 0,
      "Given groups={}, expected weight to be divisible by {} at dimension 0, but got weight of size {} instead",
      groups, groups, listOf(weight.sizes()));
  int64_t product = 0;
  BOXCAR_CHECK(!__builtin_mul_overflow(second, groups, &product), "convolution: groups is too large: {}", groups);
  const int64_t expected = transposed ? first : product;
  const int64_t outputs = transposed ? product : first;
  BOXCAR_CHECK(input.sizes()[1] == expected,
               "Given groups={}, weight of size {}, expected input {} to have {} channels, but got {} channels instead",
               groups, listOf(weight.sizes()), listOf(input.sizes()), expected, input.sizes()[1]);
  BOXCAR_CHECK(!bias.defined() || (bias.dim() == 1 && bias.sizes()[0] == outputs),
               "Given weight of size {}, expected bias to be 1-dimensional with {} elements, but got bias of size {} "
               "instead",
               listOf(weight.sizes()), outputs, listOf(bias.sizes()));
  return outputs;
}

int64_t forwardSize(const Convolution& c, size_t i, int64_t in, int64_t kernel) {
  const int64_t reach = windowReach(kName, kernel, c.dilation[i]);
  const int64_t padded = in + 2 * c.padding[i];
  BOXCAR_CHECK(reach <= padded,
               "Calculated padded input size of spatial dimension {}: {}. Kernel size: {}, dilation: {}. Kernel size "
               "can't be greater than actual input size",
               i, padded, kernel, c.dilation[i]);
  return (padded - reach) / c.stride[i] + 1;
}

int64_t transposedSize(const Convolution& c, size_t i, int64_t in, int64_t kernel) {
  BOXCAR_CHECK(c.output_padding[i] < c.stride[i] || c.output_padding[i] < c.dilation[i],
               "output padding must be smaller than either stride or dilation, but got output_padding: {}, stride: {}, "
               "dilation: {}",
               c.output_padding[i], c.stride[i], c.dilation[i]);
  const int64_t reach = windowReach(kName, kernel, c.dilation[i]);
  int64_t steps = 0;
  int64_t out = 0;
  const bool overflow =
      __builtin_mul_overflow(in - 1, c.stride[i], &steps) || __builtin_add_overflow(steps, reach, &out);
  BOXCAR_CHECK(!overflow, "convolution: an input of size {} with stride {} gives too large a result", in, c.stride[i]);
  out += c.output_padding[i] - 2 * c.padding[i];
  BOXCAR_CHECK(out >= 1,
               "Given input size {}, kernel size {}, padding {} of spatial dimension {}: calculated output size {}. "
               "Output size is too small",
               in, kernel, c.padding[i], i, out);
  return out;
}

}  // namespace

Convolution checkConvolution(const Tensor& input, const Tensor& weight, const Tensor& bias,
                             std::span<const int64_t> stride, std::span<const int64_t> padding,
                             std::span<const int64_t> dilation, bool transposed,
                             std::span<const int64_t> output_padding, int64_t groups) {
  BOXCAR_CHECK(weight.defined(), "convolution: weight is an undefined tensor");
  checkTypes(input, weight, bias);
  checkRank(input, weight);
  const auto rank = static_cast<size_t>(weight.dim() - 2);
  Convolution c{spatialArgument(kName, "stride", stride, rank, 1),
                spatialArgument(kName, "padding", padding, rank, 0),
                spatialArgument(kName, "dilation", dilation, rank, 1),
                spatialArgument(kName, "output_padding", output_padding, rank, 0),
                transposed,
                groups,
                {},
                false};
  const int64_t outputs = checkChannels(input, weight, bias, transposed, groups);
  c.output_sizes = {input.sizes()[0], outputs};
  for (size_t i = 0; i < rank; ++i) {
    const int64_t in = input.sizes()[i + 2];
    const int64_t kernel = weight.sizes()[i + 2];
    BOXCAR_CHECK(kernel >= 1, "convolution: kernel sizes must be greater than zero, but weight has sizes {}",
                 listOf(weight.sizes()));
    c.output_sizes.push_back(transposed ? transposedSize(c, i, in, kernel) : forwardSize(c, i, in, kernel));
  }
  // Signals are convolved as images of one row. A signal whose dimensions are permuted, as between attention and
  // convolution, is no image with the channels innermost: PyTorch's models view the result as a contiguous one.
  c.channels_last =
      rank == 1 ? suggestsChannelsLast(asImages(weight)) : suggestsChannelsLast(input) || suggestsChannelsLast(weight);
  return c;
}

}  // namespace boxcar::meta
