#pragma once

#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/scalar_type.h>
#include <boxcar/ivalue/tensor.h>

#include <optional>
#include <source_location>
#include <string>
#include <string_view>

// Regions in which operators choose the dtype of their work, as PyTorch's torch.amp does. Names are those of
// at::autocast. All of it is this thread's.

namespace boxcar::autocast {

// While it lives, products and convolutions on [device] run in [dtype] (without one, in get_autocast_dtype()), and what
// needs the range runs in float32. `AutocastGuard(device, {}, false)` switches it off for a nested scope. Throws Error
// if [device] is neither CPU nor CUDA, or if [dtype] is neither bfloat16 nor float16.
class BOXCAR_API AutocastGuard final {
 public:
  explicit AutocastGuard(DeviceType device, std::optional<ScalarType> dtype = std::nullopt, bool enabled = true,
                         std::optional<bool> cache_enabled = std::nullopt);
  ~AutocastGuard();
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  DeviceType device_;
  bool enabled_before_;
  ScalarType dtype_before_;
  bool cache_enabled_before_;
};

BOXCAR_API bool is_autocast_available(DeviceType device) noexcept;
BOXCAR_API bool is_autocast_enabled(DeviceType device) noexcept;
BOXCAR_API void set_autocast_enabled(DeviceType device, bool enabled);
// The dtype of regions that name none: bfloat16 on the CPU and float16 on CUDA, unless it was set.
BOXCAR_API ScalarType get_autocast_dtype(DeviceType device);
BOXCAR_API void set_autocast_dtype(DeviceType device, ScalarType dtype);

// Casts of leaves that require grad are kept until the outermost AutocastGuard ends, or the leaf is written.
BOXCAR_API bool is_autocast_cache_enabled() noexcept;
BOXCAR_API void set_autocast_cache_enabled(bool enabled) noexcept;
BOXCAR_API void clear_cache() noexcept;

// Returns [tensor] as [dtype] if autocast on [device] may cast it: a floating point tensor there, other than float64.
BOXCAR_API Tensor cached_cast(ScalarType dtype, const Tensor& tensor, DeviceType device);

// Makes [op], such as "my::scale", run with its tensors on [device] cast to [cast_inputs], and without autocast, while
// autocast is on there and the handle lives: torch.library.register_autocast. Leave out [where]: it defaults to the
// caller's place.
BOXCAR_API RegistrationHandleRAII
register_autocast(std::string_view op, DeviceType device, ScalarType cast_inputs,
                  const std::source_location& where = std::source_location::current());

// Registers the kernels at the autocast keys, unless that was done: the first region does it.
BOXCAR_API void registerAutocastKernels();

// Returns the classes of an operator: "lower_precision_fp on cpu and cuda (backends/ops/aten.autocast:12)"; empty if it
// has none. Registers the kernels.
BOXCAR_API std::string describeAutocast(const OperatorHandle& op);
// Returns what happens now to a call of [op] on this thread: "cpu: arguments are cast to bfloat16"; empty if autocast
// is off, or does nothing.
BOXCAR_API std::string describeCast(const OperatorHandle& op);

}  // namespace boxcar::autocast
