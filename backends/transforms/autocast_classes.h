#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/macros.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

// What autocast does with the operators that PyTorch lists: backends/ops/aten.autocast.

namespace boxcar::autocast {

// PyTorch's names.
enum class CastPolicy : uint8_t {
  lower_precision_fp,  // arguments are cast to the region's dtype
  fp32,                // arguments are cast to float32
  fp32_set_opt_dtype,  // the argument `dtype` becomes float32 if it is None
  fp32_append_dtype,   // the overload with `dtype` is called instead, with float32
  promote,             // arguments are cast to the widest dtype among them
  banned,              // an Error
  whole,               // nothing is cast, neither arguments nor in the calls that the operator makes
};
BOXCAR_API std::string_view toString(CastPolicy policy) noexcept;

// The devices that have such regions.
inline constexpr std::array kDevices = {DeviceType::CPU, DeviceType::CUDA};

struct OperatorClass {
  std::string_view op;  // "aten::conv2d.padding"
  // One for each of kDevices.
  std::array<std::optional<CastPolicy>, kDevices.size()> policies;
  uint32_t line;  // of the file
};

inline constexpr const char* kClassesFile = "backends/ops/aten.autocast";

// Returns all lines of the file, which is read when this is first called.
const std::vector<OperatorClass>& operatorClasses();
// Returns null if the operator has no line.
const OperatorClass* findOperatorClass(std::string_view op);

}  // namespace boxcar::autocast
