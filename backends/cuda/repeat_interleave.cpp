#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/repeat_interleave.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <optional>
#include <span>

namespace boxcar::cuda {
namespace {

// Position i fills the result from the sum of the counts before it to the sum that includes it, so a search in the sums
// finds it.
Tensor repeat(const Tensor& counts, std::optional<int64_t> size) {
  const ScalarType type = counts.scalar_type();
  if (counts.numel() == 0) {
    BOXCAR_CHECK(size.value_or(0) == 0, "repeat_interleave: Invalid output_size, expected {} but got {}", 0, *size);
    return boxcar::empty_like(counts);
  }
  const Tensor ends = boxcar::cumsum(counts, 0);
  const int64_t least = native::readNumber(boxcar::amin(counts)).toInt();
  BOXCAR_CHECK(least >= 0, "repeats can not be negative, but one is {}", least);
  const int64_t total = native::readNumber(boxcar::select(ends, 0, -1)).toInt();
  BOXCAR_CHECK(total >= 0, "repeat_interleave(): the sum of repeats is too large");
  BOXCAR_CHECK(size.value_or(total) == total, "repeat_interleave: Invalid output_size, expected {} but got {}", total,
               *size);
  const Tensor places = boxcar::arange(total, ScalarType::Long, std::nullopt, counts.device());
  return boxcar::searchsorted(ends, places, /*out_int32=*/type == ScalarType::Int, /*right=*/true);
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::repeatPlaces, repeat)

}  // namespace boxcar::cuda
