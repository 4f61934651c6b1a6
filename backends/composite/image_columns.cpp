#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <span>
#include <string_view>

// Images as columns of their windows, and back; shuffled channels; grids of positions.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;

// The checked arguments of im2col and col2im, and the numbers of windows over images of a size.
struct ColumnWindows {
  DimVector kernel;
  DimVector dilation;
  DimVector padding;
  DimVector stride;
  DimVector count;

  ColumnWindows(std::string_view op, IntSpan image, IntSpan kernel_size, IntSpan dilated, IntSpan padded, IntSpan step)
      : kernel(meta::spatialArgument(op, "kernel_size", kernel_size, 2, 1)),
        dilation(meta::spatialArgument(op, "dilation", dilated, 2, 1)),
        padding(meta::spatialArgument(op, "padding", padded, 2, 0)),
        stride(meta::spatialArgument(op, "stride", step, 2, 1)) {
    for (size_t i = 0; i < 2; ++i) {
      const int64_t room = image[i] + 2 * padding[i] - meta::windowReach(op, kernel[i], dilation[i]);
      BOXCAR_CHECK(room >= 0, "{}: no window of kernel_size {} and dilation {} fits images of size {} in padding {}",
                   op, meta::listOf(kernel), meta::listOf(dilation), meta::listOf(image), meta::listOf(padding));
      count.push_back(room / stride[i] + 1);
    }
  }
};

// Each column is a view of the padded image; one copy makes them all.
Tensor im2col(const Tensor& self, IntSpan kernel_size, IntSpan dilation, IntSpan padding, IntSpan stride) {
  constexpr std::string_view kName = "im2col";
  const auto sizes = self.sizes();
  bool fits = sizes.size() == 3 || sizes.size() == 4;
  for (size_t i = sizes.size() == 4 ? 1 : 0; fits && i < sizes.size(); ++i) fits = sizes[i] > 0;
  BOXCAR_CHECK(fits, "{}: expected a 3D or 4D input with no empty dimension except the batch, but got one of size {}",
               kName, meta::listOf(sizes));
  const Tensor images = sizes.size() == 3 ? boxcar::unsqueeze(self, 0) : self;
  const ColumnWindows windows(kName, images.sizes().subspan(2), kernel_size, dilation, padding, stride);
  const int64_t up = windows.padding[0];
  const int64_t left = windows.padding[1];
  const Tensor padded =
      up == 0 && left == 0 ? images : boxcar::constant_pad_nd(images, dimVector(left, left, up, up), 0);
  const auto steps = padded.strides();
  const DimVector view_sizes = dimVector(images.size(0), images.size(1), windows.kernel[0], windows.kernel[1],
                                         windows.count[0], windows.count[1]);
  const DimVector view_steps =
      dimVector(steps[0], steps[1], steps[2] * windows.dilation[0], steps[3] * windows.dilation[1],
                steps[2] * windows.stride[0], steps[3] * windows.stride[1]);
  const Tensor columns =
      boxcar::clone(boxcar::as_strided(padded, view_sizes, view_steps, std::nullopt), MemoryFormat::Contiguous);
  const int64_t rows = view_sizes[1] * view_sizes[2] * view_sizes[3];
  const int64_t places = view_sizes[4] * view_sizes[5];
  return boxcar::_unsafe_view(columns,
                              sizes.size() == 3 ? dimVector(rows, places) : dimVector(view_sizes[0], rows, places));
}
Tensor& im2colOut(const Tensor& self, IntSpan kernel_size, IntSpan dilation, IntSpan padding, IntSpan stride,
                  Tensor& out) {
  return writeSameType(out, im2col(self, kernel_size, dilation, padding, stride));
}

// Adds all elements at one position of a window at once: they are apart by the stride.
Tensor col2im(const Tensor& self, IntSpan output_size, IntSpan kernel_size, IntSpan dilation, IntSpan padding,
              IntSpan stride) {
  constexpr std::string_view kName = "col2im";
  const DimVector image = meta::spatialArgument(kName, "output_size", output_size, 2, 1);
  const ColumnWindows windows(kName, image, kernel_size, dilation, padding, stride);
  const auto sizes = self.sizes();
  const bool is_batch = sizes.size() == 3;
  const int64_t height = windows.kernel[0];
  const int64_t width = windows.kernel[1];
  const int64_t places = windows.count[0] * windows.count[1];
  const bool fits = (is_batch || sizes.size() == 2) && sizes[sizes.size() - 2] > 0 &&
                    sizes[sizes.size() - 2] % (height * width) == 0 && sizes.back() == places;
  BOXCAR_CHECK(fits,
               "{}: expected an input [N, C * {}, {}] or [C * {}, {}] for images of size {}, but got one of size {}",
               kName, height * width, places, height * width, places, meta::listOf(image), meta::listOf(sizes));
  const int64_t batch = is_batch ? sizes[0] : 1;
  const int64_t channels = sizes[sizes.size() - 2] / (height * width);
  const Tensor columns =
      boxcar::reshape(widened(self), dimVector(batch, channels, height, width, windows.count[0], windows.count[1]));
  const Tensor padded =
      boxcar::zeros(dimVector(batch, channels, image[0] + 2 * windows.padding[0], image[1] + 2 * windows.padding[1]),
                    columns.scalar_type(), std::nullopt, self.device());
  const auto rowsFrom = [&](const Tensor& images, size_t i, int64_t k) {
    const int64_t first = k * windows.dilation[i];
    return boxcar::slice(images, static_cast<int64_t>(i) + 2, first,
                         first + (windows.count[i] - 1) * windows.stride[i] + 1, windows.stride[i]);
  };
  for (int64_t y = 0; y < height; ++y) {
    const Tensor rows = rowsFrom(padded, 0, y);
    for (int64_t x = 0; x < width; ++x) {
      Tensor target = rowsFrom(rows, 1, x);
      boxcar::add_(target, boxcar::select(boxcar::select(columns, 2, y), 2, x));
    }
  }
  Tensor result =
      boxcar::narrow(boxcar::narrow(padded, 2, windows.padding[0], image[0]), 3, windows.padding[1], image[1]);
  result = boxcar::contiguous(converted(result, self.scalar_type()));
  return is_batch ? result : boxcar::squeeze(result, 0);
}
Tensor& col2imOut(const Tensor& self, IntSpan output_size, IntSpan kernel_size, IntSpan dilation, IntSpan padding,
                  IntSpan stride, Tensor& out) {
  return writeSameType(out, col2im(self, output_size, kernel_size, dilation, padding, stride));
}

Tensor channelShuffle(const Tensor& self, int64_t groups) {
  BOXCAR_CHECK(self.dim() > 2, "channel_shuffle: expected an input with more than 2 dimensions, but got one of size {}",
               meta::listOf(self.sizes()));
  BOXCAR_CHECK(groups > 0 && self.size(1) % groups == 0,
               "channel_shuffle: groups must be positive and divide the {} channels of the input, but it is {}",
               self.size(1), groups);
  DimVector split = toDimVector(self.sizes());
  split[1] /= groups;
  split.insert(split.begin() + 1, groups);
  const Tensor swapped = boxcar::transpose(boxcar::reshape(self, split), 1, 2);
  const Tensor result = boxcar::_unsafe_view(boxcar::clone(swapped, MemoryFormat::Contiguous), self.sizes());
  return meta::suggestsChannelsLast(self) ? boxcar::contiguous(result, MemoryFormat::ChannelsLast) : result;
}

// Returns the positions of [size] elements from -1 to 1: those of the first and last ones with [align_corners], else
// those of their outer edges.
Tensor positionsAlong(int64_t size, bool align_corners, const Tensor& like) {
  const double edge = size <= 1 ? 0 : align_corners ? 1 : static_cast<double>(size - 1) / static_cast<double>(size);
  return boxcar::linspace(-edge, edge, size, like.scalar_type(), std::nullopt, like.device());
}

// The checked [size] of images or volumes, [N, C, spatial dimensions…].
struct GridSize {
  int64_t rank;
  int64_t count = 1;  // of the places
  DimVector places;   // the spatial dimensions

  GridSize(std::string_view op, IntSpan size) : rank(static_cast<int64_t>(size.size()) - 2) {
    BOXCAR_CHECK(size.size() == 4 || size.size() == 5,
                 "{}: size must be that of images or volumes, 4 or 5 ints, but it is {}", op, meta::listOf(size));
    for (const int64_t n : size) {
      BOXCAR_CHECK(n >= 0, "{}: sizes must not be negative, but they are {}", op, meta::listOf(size));
    }
    places = toDimVector(size.subspan(2));
    for (const int64_t n : places) count *= n;
  }

  // The coordinates of each place and a 1: [count, rank + 1]. The last spatial dimension is x, the first coordinate.
  Tensor base(bool align_corners, const Tensor& like) const {
    DimVector sizes = places;
    sizes.push_back(rank + 1);
    const Tensor base = boxcar::ones(sizes, like.scalar_type(), std::nullopt, like.device());
    for (int64_t i = 0; i < rank; ++i) {
      Tensor coordinate = boxcar::select(base, -1, rank - 1 - i);
      DimVector shape(static_cast<size_t>(rank), 1);
      shape[static_cast<size_t>(i)] = places[static_cast<size_t>(i)];
      boxcar::copy_(coordinate,
                    boxcar::reshape(positionsAlong(places[static_cast<size_t>(i)], align_corners, like), shape));
    }
    return boxcar::reshape(base, dimVector(count, rank + 1));
  }
};

Tensor affineGridGenerator(const Tensor& theta, IntSpan size, bool align_corners) {
  const GridSize grid_size("affine_grid_generator", size);
  const int64_t rank = grid_size.rank;
  BOXCAR_CHECK(theta.is_floating_point() && theta.dim() == 3 && theta.size(0) == size[0] && theta.size(1) == rank &&
                   theta.size(2) == rank + 1,
               "affine_grid_generator: theta must be floats of size [{}, {}, {}], but it is {} of size {}", size[0],
               rank, rank + 1, dtypeName(theta.scalar_type()), meta::listOf(theta.sizes()));
  const Tensor matrices = widened(theta);
  const Tensor grid = boxcar::matmul(grid_size.base(align_corners, matrices), boxcar::transpose(matrices, 1, 2));
  DimVector sizes = grid_size.places;
  sizes.push_back(rank);
  sizes.insert(sizes.begin(), size[0]);
  return converted(boxcar::reshape(grid, sizes), theta.scalar_type());
}

Tensor affineGridGeneratorBackward(const Tensor& grad, IntSpan size, bool align_corners) {
  const GridSize grid_size("affine_grid_generator_backward", size);
  DimVector sizes = grid_size.places;
  sizes.push_back(grid_size.rank);
  sizes.insert(sizes.begin(), size[0]);
  BOXCAR_CHECK(grad.is_floating_point() && std::ranges::equal(grad.sizes(), sizes),
               "affine_grid_generator_backward: grad must be floats of size {}, but it is {} of size {}",
               meta::listOf(sizes), dtypeName(grad.scalar_type()), meta::listOf(grad.sizes()));
  const Tensor positions = boxcar::reshape(widened(grad), dimVector(size[0], grid_size.count, grid_size.rank));
  const Tensor matrices = boxcar::matmul(boxcar::transpose(grid_size.base(align_corners, positions), 0, 1), positions);
  return converted(boxcar::transpose(matrices, 1, 2), grad.scalar_type());
}

Tensor gridSampler(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
                   bool align_corners) {
  BOXCAR_CHECK(input.dim() == 4 || input.dim() == 5,
               "grid_sampler: expected images or volumes, 4 or 5 dimensions, but got an input of size {}",
               meta::listOf(input.sizes()));
  return input.dim() == 4 ? boxcar::grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners)
                          : boxcar::grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("affine_grid_generator_backward", BOXCAR_FN(affineGridGeneratorBackward));
  m.impl("channel_shuffle", BOXCAR_FN(channelShuffle));
  m.impl("grid_sampler", BOXCAR_FN(gridSampler));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("im2col", BOXCAR_FN(im2col));
  m.impl("im2col.out", BOXCAR_FN(im2colOut));
  m.impl("col2im", BOXCAR_FN(col2im));
  m.impl("col2im.out", BOXCAR_FN(col2imOut));
  m.impl("affine_grid_generator", BOXCAR_FN(affineGridGenerator));
}

}  // namespace boxcar::composite
