#pragma once

#include <boxcar/ivalue/dispatch_key.h>
#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace boxcar {

// A kind of device that holds tensors. The numbers are c10's; the missing ones have no dispatch key.
enum class DeviceType : int8_t {
  CPU = 0,
  CUDA = 1,
  HIP = 6,
  FPGA = 7,
  ORT = 8,
  XLA = 9,
  Vulkan = 10,
  Metal = 11,
  XPU = 12,
  MPS = 13,
  Meta = 14,
  HPU = 15,
  VE = 16,
  Lazy = 17,
  IPU = 18,
  MTIA = 19,
  PrivateUse1 = 20,
};

using DeviceIndex = int8_t;

// Returns the name used in device strings: "cuda", "privateuseone".
BOXCAR_API std::string_view toString(DeviceType type);
// Returns nullopt for an unknown name.
BOXCAR_API std::optional<DeviceType> parseDeviceType(std::string_view name);

// Names PrivateUse1 [name], a word of lower-case letters, digits and _; its devices print and parse as "npu:0". The
// keys stay PrivateUse1, AutogradPrivateUse1 … "privateuseone" is still read. Throws Error if a process gives a second,
// different name, or if the name is another device's or a dtype's.
BOXCAR_API void register_privateuse1_backend(std::string_view name);
// Returns whether PrivateUse1 was given a name.
BOXCAR_API bool is_privateuse1_backend_registered() noexcept;
// Returns that name, or "privateuseone"; in capitals unless [lower_case].
BOXCAR_API std::string get_privateuse1_backend(bool lower_case = true);

// One device of a kind; without an index, the current one of that kind.
struct BOXCAR_API Device {
  constexpr Device(DeviceType device_type, DeviceIndex device_index = -1) : type_(device_type), index_(device_index) {}
  // Parses "cpu", "cuda", "cuda:1". Throws an Error that names the text and the known types.
  explicit Device(std::string_view text);

  constexpr DeviceType type() const { return type_; }
  constexpr DeviceIndex index() const { return index_; }
  constexpr bool has_index() const { return index_ != -1; }
  constexpr bool is_cpu() const { return type_ == DeviceType::CPU; }
  constexpr bool is_cuda() const { return type_ == DeviceType::CUDA; }
  constexpr bool is_meta() const { return type_ == DeviceType::Meta; }
  constexpr bool operator==(const Device&) const = default;

 private:
  DeviceType type_;
  DeviceIndex index_;
};
static_assert(sizeof(Device) == 2);

inline constexpr DeviceType kCPU = DeviceType::CPU;
inline constexpr DeviceType kCUDA = DeviceType::CUDA;
inline constexpr DeviceType kHIP = DeviceType::HIP;
inline constexpr DeviceType kFPGA = DeviceType::FPGA;
inline constexpr DeviceType kXLA = DeviceType::XLA;
inline constexpr DeviceType kVulkan = DeviceType::Vulkan;
inline constexpr DeviceType kMetal = DeviceType::Metal;
inline constexpr DeviceType kXPU = DeviceType::XPU;
inline constexpr DeviceType kMPS = DeviceType::MPS;
inline constexpr DeviceType kMeta = DeviceType::Meta;
inline constexpr DeviceType kHPU = DeviceType::HPU;
inline constexpr DeviceType kVE = DeviceType::VE;
inline constexpr DeviceType kLazy = DeviceType::Lazy;
inline constexpr DeviceType kIPU = DeviceType::IPU;
inline constexpr DeviceType kMTIA = DeviceType::MTIA;
inline constexpr DeviceType kPrivateUse1 = DeviceType::PrivateUse1;

// "cuda:0", "cpu".
BOXCAR_API std::string toString(Device device);

// Returns a device type's bit in a key set; InvalidBit for FPGA, ORT, Vulkan and Metal, which have a functionality.
BOXCAR_API BackendComponent toBackendComponent(DeviceType type);
// Returns the key of a device's dense tensors: CUDA, FPGA.
BOXCAR_API DispatchKey toDispatchKey(DeviceType type);
// Returns the device whose tensors [backend] marks; nullopt for InvalidBit, PrivateUse2Bit and PrivateUse3Bit.
BOXCAR_API std::optional<DeviceType> toDeviceType(BackendComponent backend);

}  // namespace boxcar

template <>
struct std::hash<boxcar::Device> {
  size_t operator()(boxcar::Device device) const noexcept {
    return static_cast<size_t>(static_cast<uint8_t>(device.type())) << 8 | static_cast<uint8_t>(device.index());
  }
};
