#include <boxcar/dispatcher/library.h>
#include <boxcar/ops.h>

#include <optional>
#include <span>

// Operators that have no tensor to tell their backend: it follows from the device that they are asked for.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;

// The key of tensors on [device], the CPU's when there is none.
DispatchKeySet keysOf(std::optional<Device> device) {
  return DispatchKeySet(toDispatchKey(device.has_value() ? device->type() : DeviceType::CPU));
}

Tensor empty(IntSpan size, std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device,
             std::optional<bool> pin_memory, std::optional<MemoryFormat> memory_format) {
  return redispatch::empty(keysOf(device), size, dtype, layout, device, pin_memory, memory_format);
}

Tensor emptyStrided(IntSpan size, IntSpan stride, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                    std::optional<Device> device, std::optional<bool> pin_memory) {
  return redispatch::empty_strided(keysOf(device), size, stride, dtype, layout, device, pin_memory);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, BackendSelect, m) {
  m.impl("empty.memory_format", BOXCAR_FN(empty));
  m.impl("empty_strided", BOXCAR_FN(emptyStrided));
}

}  // namespace boxcar::composite
