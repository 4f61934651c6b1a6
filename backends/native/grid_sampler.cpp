#include <boxcar/backends/meta/spatial.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/grid_sampler.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>

#include <string_view>

// Elements of images and volumes at any positions.

namespace boxcar::native {

constinit DeviceStub<SampleFunction> sampleGrid("grid_sampler");

namespace {

// Throws Error unless [input] has [rank] spatial dimensions and [grid] a position of as many coordinates for each
// element of the result.
void checkGrid(std::string_view op, const Tensor& input, const Tensor& grid, int64_t rank) {
  const auto sizes = input.sizes();
  const auto places = grid.sizes();
  bool fits = input.dim() == rank + 2 && grid.dim() == rank + 2 && places[0] == sizes[0] && places.back() == rank;
  for (size_t i = 2; fits && i < sizes.size(); ++i) fits = sizes[i] > 0;
  BOXCAR_CHECK(fits,
               "{}: expected an input of {} dimensions with no empty spatial dimension, and a grid of as many "
               "dimensions with the same batch size and {} coordinates last, but got sizes {} and {}",
               op, rank + 2, rank, meta::listOf(sizes), meta::listOf(places));
  BOXCAR_CHECK(input.scalar_type() == grid.scalar_type(), "{}: expected input and grid of one dtype, but got {} and {}",
               op, dtypeName(input.scalar_type()), dtypeName(grid.scalar_type()));
}

Tensor sample(std::string_view op, const Tensor& input, const Tensor& grid, int64_t rank, int64_t interpolation_mode,
              int64_t padding_mode, bool align_corners) {
  checkDense(input);
  checkDense(grid);
  checkGrid(op, input, grid, rank);
  BOXCAR_CHECK(interpolation_mode >= 0 && interpolation_mode <= 2,
               "{}: interpolation_mode must be 0 (linear), 1 (nearest) or 2 (cubic), but it is {}", op,
               interpolation_mode);
  BOXCAR_CHECK(padding_mode >= 0 && padding_mode <= 2,
               "{}: padding_mode must be 0 (zeros), 1 (border) or 2 (reflection), but it is {}", op, padding_mode);
  visitScalarType(kFloatingTypes, input.scalar_type(), op, [](auto) {});
  const Device device = checkSameDevice({&input, &grid});
  DimVector sizes = toDimVector(input.sizes());
  for (size_t i = 2; i < sizes.size(); ++i) sizes[i] = grid.sizes()[i - 1];
  const ScalarType type = isSmallFloat(input) ? ScalarType::Float : input.scalar_type();
  const Tensor out = Tensor::allocate(sizes, device.is_meta() ? input.scalar_type() : type, device);
  if (!out.is_meta() && out.numel() > 0) {
    sampleGrid(device,
               {static_cast<Interpolation>(interpolation_mode), static_cast<GridPadding>(padding_mode), align_corners},
               out, toContiguous(input, type), toContiguous(grid, type));
  }
  return toContiguous(out, input.scalar_type());
}

Tensor gridSampler2d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
                     bool align_corners) {
  return sample("grid_sampler_2d", input, grid, 2, interpolation_mode, padding_mode, align_corners);
}

Tensor gridSampler3d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode, int64_t padding_mode,
                     bool align_corners) {
  return sample("grid_sampler_3d", input, grid, 3, interpolation_mode, padding_mode, align_corners);
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, sampleGrid) {
  m.impl("grid_sampler_2d", BOXCAR_FN(gridSampler2d));
  m.impl("grid_sampler_3d", BOXCAR_FN(gridSampler3d));
}

}  // namespace boxcar::native
