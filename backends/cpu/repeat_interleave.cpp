#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <optional>
#include <span>

namespace boxcar::cpu {
namespace {

// Each place as often as its element of [repeats] says. On Meta the number of them must be given.
Tensor repeatInterleave(const Tensor& repeats, std::optional<int64_t> output_size) {
  checkCpuOrMeta(repeats);
  const ScalarType type = repeats.scalar_type();
  BOXCAR_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat, but it has {} dimensions",
               repeats.dim());
  BOXCAR_CHECK(type == ScalarType::Long || type == ScalarType::Int,
               "repeats has to be Long or Int tensor, but it is {}", dtypeName(type));
  const int64_t unknown = output_size.value_or(0);
  if (repeats.is_meta()) {
    BOXCAR_CHECK(output_size.has_value(), "repeat_interleave(): on Meta the output_size must be given");
    return Tensor::allocate(std::span(&unknown, 1), type, repeats.device());
  }
  const Tensor counts = toContiguous(repeats);
  return visitScalarType(
      ElementTypes<int32_t, int64_t>{}, type, "repeat_interleave", [&]<class T>(std::type_identity<T>) {
        const std::span<const T> times(counts.data_ptr<T>(), static_cast<size_t>(counts.numel()));
        int64_t total = 0;
        for (const T count : times) {
          BOXCAR_CHECK(count >= 0, "repeats can not be negative, but one is {}", count);
          BOXCAR_CHECK(!__builtin_add_overflow(total, static_cast<int64_t>(count), &total),
                       "repeat_interleave(): the sum of repeats is too large");
        }
        BOXCAR_CHECK(output_size.value_or(total) == total,
                     "repeat_interleave: Invalid output_size, expected {} but got {}", total, *output_size);
        const Tensor result = Tensor::allocate(std::span(&total, 1), type);
        T* next = result.data_ptr<T>();
        for (size_t i = 0; i < times.size(); ++i) next = std::fill_n(next, times[i], static_cast<T>(i));
        return result;
      });
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) { m.impl("repeat_interleave.Tensor", BOXCAR_FN(repeatInterleave)); }

}  // namespace boxcar::cpu
