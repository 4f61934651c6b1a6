#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/native/repeat_interleave.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <optional>
#include <span>

namespace boxcar::cpu {
namespace {

Tensor repeat(const Tensor& counts, std::optional<int64_t> size) {
  return visitScalarType(ElementTypes<int32_t, int64_t>{}, counts.scalar_type(), "repeat_interleave",
                         [&]<class T>(std::type_identity<T>) {
                           const std::span<const T> times(counts.data_ptr<T>(), static_cast<size_t>(counts.numel()));
                           int64_t total = 0;
                           for (const T count : times) {
                             BOXCAR_CHECK(count >= 0, "repeats can not be negative, but one is {}", count);
                             BOXCAR_CHECK(!__builtin_add_overflow(total, static_cast<int64_t>(count), &total),
                                          "repeat_interleave(): the sum of repeats is too large");
                           }
                           BOXCAR_CHECK(size.value_or(total) == total,
                                        "repeat_interleave: Invalid output_size, expected {} but got {}", total, *size);
                           Tensor result = Tensor::allocate(std::span(&total, 1), counts.scalar_type());
                           T* next = result.data_ptr<T>();
                           for (size_t i = 0; i < times.size(); ++i)
                             next = std::fill_n(next, times[i], static_cast<T>(i));
                           return result;
                         });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, repeatPlaces, cpu::repeat)

}  // namespace boxcar::native
