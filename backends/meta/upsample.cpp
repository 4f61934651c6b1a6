#include <boxcar/backends/meta/spatial.h>
#include <boxcar/backends/meta/upsample.h>
#include <boxcar/ivalue/error.h>

namespace boxcar::meta {
namespace {

void checkInput(std::string_view op, const Tensor& self, size_t rank) {
  bool fits = self.sizes().size() == rank + 2;
  for (size_t i = 1; fits && i < rank + 2; ++i) fits = self.sizes()[i] > 0;
  BOXCAR_CHECK(fits, "{}: expected a {}D input with no empty dimension except the batch, but got one of size {}", op,
               rank + 2, listOf(self.sizes()));
}

}  // namespace

DimVector upsampledSizes(std::string_view op, const Tensor& self, std::span<const int64_t> output_size) {
  checkInput(op, self, output_size.size());
  DimVector sizes = toDimVector(self.sizes());
  for (size_t i = 0; i < output_size.size(); ++i) {
    BOXCAR_CHECK(output_size[i] > 0 && output_size[i] <= kMostSpatialArgument,
                 "{}: input and output sizes should be greater than 0, and at most {}, but output_size is {}", op,
                 kMostSpatialArgument, listOf(output_size));
    sizes[i + 2] = output_size[i];
  }
  return sizes;
}

DimVector chosenOutputSize(std::string_view op, const Tensor& self, std::optional<std::span<const int64_t>> output_size,
                           std::optional<std::span<const double>> scale_factors, size_t rank) {
  BOXCAR_CHECK(output_size.has_value() != scale_factors.has_value(),
               "{}: must specify exactly one of output_size and scale_factors", op);
  const size_t given = output_size.has_value() ? output_size->size() : scale_factors->size();
  BOXCAR_CHECK(given == rank, "{}: {} must be a list of {} numbers, but it has {}", op,
               output_size.has_value() ? "output_size" : "scale_factors", rank, given);
  checkInput(op, self, rank);
  DimVector sizes(rank, 0);
  for (size_t i = 0; i < rank; ++i) {
    if (output_size.has_value()) {
      sizes[i] = (*output_size)[i];
      continue;
    }
    const double scaled = static_cast<double>(self.sizes()[i + 2]) * (*scale_factors)[i];
    // NaN fails here too.
    BOXCAR_CHECK(
        scaled >= 1 && scaled <= static_cast<double>(kMostSpatialArgument),
        "{}: scale factor {} of dimension {} gives a size of {}, which should be greater than 0, and at most {}", op,
        (*scale_factors)[i], i + 2, scaled, kMostSpatialArgument);
    sizes[i] = static_cast<int64_t>(scaled);
  }
  return sizes;
}

}  // namespace boxcar::meta
