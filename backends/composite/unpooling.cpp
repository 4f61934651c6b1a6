#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/pooling.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <span>
#include <string_view>
#include <tuple>

// The inverse of max pooling, and max pooling with windows at random places; both move elements by index.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;
using Pair = std::tuple<Tensor, Tensor>;
using PairReference = std::tuple<Tensor&, Tensor&>;

// [tensor] with one row for each channel of each sample.
Tensor channelRows(const Tensor& tensor, size_t rank) {
  const size_t first = tensor.sizes().size() - rank;
  return boxcar::reshape(tensor,
                         dimVector(numelOf(tensor.sizes().first(first)), numelOf(tensor.sizes().subspan(first))));
}

Tensor maxUnpool(std::string_view op, size_t rank, const Tensor& self, const Tensor& indices, IntSpan output_size) {
  const DimVector sizes = meta::unpooledSizes(op, rank, self, indices, output_size);
  Tensor result = boxcar::zeros(sizes, self.scalar_type(), std::nullopt, self.device());
  if (self.numel() == 0) return result;
  Tensor rows = channelRows(result, rank);
  boxcar::scatter_(rows, 1, channelRows(indices, rank), channelRows(self, rank));
  return meta::suggestsChannelsLast(self) ? boxcar::contiguous(result, MemoryFormat::ChannelsLast) : result;
}

Tensor maxUnpool2d(const Tensor& self, const Tensor& indices, IntSpan output_size) {
  return maxUnpool("max_unpool2d", 2, self, indices, output_size);
}
Tensor& maxUnpool2dOut(const Tensor& self, const Tensor& indices, IntSpan output_size, Tensor& out) {
  return writeSameType(out, maxUnpool2d(self, indices, output_size));
}

// The stride and the padding are those of the pool. They do not change the result.
Tensor maxUnpool3d(const Tensor& self, const Tensor& indices, IntSpan output_size, IntSpan stride, IntSpan padding) {
  constexpr std::string_view kName = "max_unpool3d";
  BOXCAR_CHECK(stride.size() == 3 && padding.size() == 3,
               "{}: stride and padding must be lists of 3 ints, but they are {} and {}", kName, meta::listOf(stride),
               meta::listOf(padding));
  meta::spatialArgument(kName, "stride", stride, 3, 1);
  return maxUnpool(kName, 3, self, indices, output_size);
}
Tensor& maxUnpool3dOut(const Tensor& self, const Tensor& indices, IntSpan output_size, IntSpan stride, IntSpan padding,
                       Tensor& out) {
  return writeSameType(out, maxUnpool3d(self, indices, output_size, stride, padding));
}

// Returns where the [out] windows of [kernel] elements start among [in] elements, for each of [samples]. The last
// window ends where the input does.
Tensor fractionalStarts(const Tensor& samples, int64_t in, int64_t out, int64_t kernel) {
  const Device device = samples.device();
  Tensor starts = boxcar::full(dimVector(samples.size(0), samples.size(1), out), in - kernel, ScalarType::Long,
                               std::nullopt, device);
  if (out <= 1) return starts;
  const Tensor steps = boxcar::arange(out - 1, samples.scalar_type(), std::nullopt, device);
  // The step is rounded to the type of the samples, in which positions are computed.
  const Tensor step =
      boxcar::div(boxcar::scalar_tensor(in - kernel, samples.scalar_type(), std::nullopt, device), out - 1);
  const Tensor first = boxcar::unsqueeze(samples, -1);
  const auto wholeSteps = [&](const Tensor& places) { return boxcar::to(boxcar::mul(places, step), ScalarType::Long); };
  Tensor before_last = boxcar::narrow(starts, 2, 0, out - 1);
  boxcar::copy_(before_last, boxcar::sub(wholeSteps(boxcar::add(steps, first)), wholeSteps(first)));
  return starts;
}

Pair fractionalMaxPool(std::string_view op, size_t rank, const Tensor& self, IntSpan kernel_size, IntSpan output_size,
                       const Tensor& random_samples) {
  const DimVector kernel = meta::spatialArgument(op, "kernel_size", kernel_size, rank, 1);
  const DimVector out = meta::spatialArgument(op, "output_size", output_size, rank, 1);
  DimVector sizes = meta::checkAdaptivePool(op, rank, self, out, /*may_lack_channels=*/false).output_sizes;
  const size_t first = sizes.size() - rank;
  const int64_t batch = first == 2 ? sizes[0] : 1;
  const int64_t channels = sizes[first - 1];
  BOXCAR_CHECK(random_samples.dim() == 3 && random_samples.size(0) >= batch && random_samples.size(1) >= channels &&
                   random_samples.size(2) == static_cast<int64_t>(rank),
               "{}: random_samples must be of size [{}, {}, {}], but they are of size {}", op, batch, channels, rank,
               meta::listOf(random_samples.sizes()));
  BOXCAR_CHECK(self.is_floating_point() && random_samples.scalar_type() == self.scalar_type(),
               "{}: expected an input and random_samples of one floating-point type, but got {} and {}", op,
               dtypeName(self.scalar_type()), dtypeName(random_samples.scalar_type()));
  const Tensor samples = boxcar::narrow(boxcar::narrow(random_samples, 0, 0, batch), 1, 0, channels);
  // The index of each element of each window: [N, C, windows…, elements…].
  Tensor places = boxcar::zeros(dimVector(int64_t{1}), ScalarType::Long, std::nullopt, self.device());
  for (size_t i = 0; i < rank; ++i) {
    const int64_t in = self.sizes()[first + i];
    BOXCAR_CHECK(out[i] + kernel[i] - 1 <= in,
                 "{}: {} windows of {} elements are too many for dimension {} of the input, which has {} elements", op,
                 out[i], kernel[i], first + i, in);
    // For images, the samples come in the order x, y; for volumes, in the order of the dimensions.
    const Tensor sample = boxcar::select(samples, 2, static_cast<int64_t>(rank == 2 ? 1 - i : i));
    const Tensor starts = fractionalStarts(sample, in, out[i], kernel[i]);
    const Tensor along = boxcar::add(boxcar::unsqueeze(starts, -1),
                                     boxcar::arange(kernel[i], ScalarType::Long, std::nullopt, self.device()));
    DimVector shape(2 + 2 * rank, 1);
    shape[0] = batch;
    shape[1] = channels;
    shape[2 + i] = out[i];
    shape[2 + rank + i] = kernel[i];
    places = boxcar::add(boxcar::mul(places, in), boxcar::reshape(along, shape));
  }
  const int64_t rows = batch * channels;
  const Tensor flat = boxcar::reshape(places, dimVector(rows, numelOf(out) * numelOf(kernel)));
  const DimVector windows = dimVector(rows, numelOf(out), numelOf(kernel));
  const Pair greatest =
      boxcar::max(boxcar::reshape(boxcar::gather(channelRows(self, rank), 1, flat), windows), 2, /*keepdim=*/true);
  const Tensor indices = boxcar::gather(boxcar::reshape(flat, windows), 2, std::get<1>(greatest));
  return {boxcar::reshape(std::get<0>(greatest), sizes), boxcar::reshape(indices, sizes)};
}

Pair fractionalMaxPool2d(const Tensor& self, IntSpan kernel_size, IntSpan output_size, const Tensor& random_samples) {
  return fractionalMaxPool("fractional_max_pool2d", 2, self, kernel_size, output_size, random_samples);
}
PairReference fractionalMaxPool2dOut(const Tensor& self, IntSpan kernel_size, IntSpan output_size,
                                     const Tensor& random_samples, Tensor& output, Tensor& indices) {
  return writeSameTypes(fractionalMaxPool2d(self, kernel_size, output_size, random_samples), output, indices);
}
Pair fractionalMaxPool3d(const Tensor& self, IntSpan kernel_size, IntSpan output_size, const Tensor& random_samples) {
  return fractionalMaxPool("fractional_max_pool3d", 3, self, kernel_size, output_size, random_samples);
}
PairReference fractionalMaxPool3dOut(const Tensor& self, IntSpan kernel_size, IntSpan output_size,
                                     const Tensor& random_samples, Tensor& output, Tensor& indices) {
  return writeSameTypes(fractionalMaxPool3d(self, kernel_size, output_size, random_samples), output, indices);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("max_unpool2d", BOXCAR_FN(maxUnpool2d));
  m.impl("max_unpool2d.out", BOXCAR_FN(maxUnpool2dOut));
  m.impl("max_unpool3d", BOXCAR_FN(maxUnpool3d));
  m.impl("max_unpool3d.out", BOXCAR_FN(maxUnpool3dOut));
  m.impl("fractional_max_pool2d", BOXCAR_FN(fractionalMaxPool2d));
  m.impl("fractional_max_pool2d.output", BOXCAR_FN(fractionalMaxPool2dOut));
  m.impl("fractional_max_pool3d", BOXCAR_FN(fractionalMaxPool3d));
  m.impl("fractional_max_pool3d.output", BOXCAR_FN(fractionalMaxPool3dOut));
}

}  // namespace boxcar::composite
