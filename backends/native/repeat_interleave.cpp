#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/repeat_interleave.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/no_elements_error.h>

#include <optional>
#include <span>

namespace boxcar::native {

constinit DeviceStub<RepeatPlaces> repeatPlaces("repeat_interleave");

namespace {

// Returns each index repeated as often as its element of [repeats] says. On Meta the total must be given.
Tensor repeatInterleave(const Tensor& repeats, std::optional<int64_t> output_size) {
  checkDense(repeats);
  const ScalarType type = repeats.scalar_type();
  BOXCAR_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat, but it has {} dimensions",
               repeats.dim());
  BOXCAR_CHECK(type == ScalarType::Long || type == ScalarType::Int,
               "repeats has to be Long or Int tensor, but it is {}", dtypeName(type));
  const int64_t unknown = output_size.value_or(0);
  if (repeats.is_meta()) {
    if (!output_size.has_value()) {
      throw NoElementsError("repeat_interleave(): on Meta the output_size must be given");
    }
    return Tensor::allocate(std::span(&unknown, 1), type, repeats.device());
  }
  return repeatPlaces(repeats.device(), toContiguous(repeats), output_size);
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, repeatPlaces) { m.impl("repeat_interleave.Tensor", BOXCAR_FN(repeatInterleave)); }

}  // namespace boxcar::native
