#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ops.h>

#include <optional>
#include <span>

// Operators without a tensor argument to determine the backend: the requested device determines it.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;

// Returns the key of tensors on [device]; the CPU's if there is none.
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

using TriangleIndices = Tensor(DispatchKeySet, int64_t, int64_t, int64_t, std::optional<ScalarType>,
                               std::optional<Layout>, std::optional<Device>, std::optional<bool>);

template <TriangleIndices* indices>
Tensor triangleIndices(int64_t row, int64_t col, int64_t offset, std::optional<ScalarType> dtype,
                       std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  return indices(keysOf(device), row, col, offset, dtype, layout, device, pin_memory);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, BackendSelect, m) {
  m.impl("empty.memory_format", BOXCAR_FN(empty));
  m.impl("empty_strided", BOXCAR_FN(emptyStrided));
  m.impl("tril_indices", BOXCAR_FN(triangleIndices<redispatch::tril_indices>));
  m.impl("triu_indices", BOXCAR_FN(triangleIndices<redispatch::triu_indices>));
}

}  // namespace boxcar::composite
