#include <boxcar/ivalue/alternatives.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <boxcar/ivalue/scalar_type.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

namespace boxcar {

namespace {

struct TypeInfo {
  DeviceType type;
  std::string_view name;
  DispatchKey key;
};

constexpr TypeInfo kTypes[] = {
    {DeviceType::CPU, "cpu", DispatchKey::CPU},
    {DeviceType::CUDA, "cuda", DispatchKey::CUDA},
    {DeviceType::HIP, "hip", DispatchKey::HIP},
    {DeviceType::FPGA, "fpga", DispatchKey::FPGA},
    {DeviceType::ORT, "ort", DispatchKey::ORT},
    {DeviceType::XLA, "xla", DispatchKey::XLA},
    {DeviceType::Vulkan, "vulkan", DispatchKey::Vulkan},
    {DeviceType::Metal, "metal", DispatchKey::Metal},
    {DeviceType::XPU, "xpu", DispatchKey::XPU},
    {DeviceType::MPS, "mps", DispatchKey::MPS},
    {DeviceType::Meta, "meta", DispatchKey::Meta},
    {DeviceType::HPU, "hpu", DispatchKey::HPU},
    {DeviceType::VE, "ve", DispatchKey::VE},
    {DeviceType::Lazy, "lazy", DispatchKey::Lazy},
    {DeviceType::IPU, "ipu", DispatchKey::IPU},
    {DeviceType::MTIA, "mtia", DispatchKey::MTIA},
    {DeviceType::PrivateUse1, "privateuseone", DispatchKey::PrivateUse1},
};

const TypeInfo& infoOf(DeviceType type) {
  for (const TypeInfo& info : kTypes) {
    if (info.type == type) return info;
  }
  BOXCAR_FAIL("{} is not the number of a device type", static_cast<int>(type));
}

// The name given to PrivateUse1, or null. Never freed, because toString() hands it out.
std::atomic<const std::string*> privateuse1_name{nullptr};

std::string_view nameOf(const TypeInfo& info) {
  if (info.type == DeviceType::PrivateUse1) {
    if (const std::string* given = privateuse1_name.load(std::memory_order_acquire)) return *given;
  }
  return info.name;
}

// Only ASCII letters count, whatever the locale says.
bool isWord(std::string_view text) {
  const auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  return !text.empty() && isLetter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return isLetter(c) || (c >= '0' && c <= '9'); });
}

DeviceIndex parseIndex(std::string_view digits, std::string_view text) {
  int index = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  const bool canonical = digits == "0" || (!digits.empty() && digits[0] >= '1' && digits[0] <= '9');
  constexpr int largest = std::numeric_limits<DeviceIndex>::max();
  BOXCAR_CHECK(canonical && error == std::errc() && end == digits.data() + digits.size() && index <= largest,
               "the index of device {} must be a number from 0 to {}, without leading zeros", pythonStringRepr(text),
               largest);
  return static_cast<DeviceIndex>(index);
}

}  // namespace

std::string_view toString(DeviceType type) { return nameOf(infoOf(type)); }

std::optional<DeviceType> parseDeviceType(std::string_view name) {
  for (const TypeInfo& info : kTypes) {
    if (info.name == name || nameOf(info) == name) return info.type;
  }
  return std::nullopt;
}

void register_privateuse1_backend(std::string_view name) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (const std::string* given = privateuse1_name.load(std::memory_order_relaxed)) {
    BOXCAR_CHECK(*given == name, "PrivateUse1 is already named {}, and cannot be named {}: a process names it once",
                 pythonStringRepr(*given), pythonStringRepr(name));
    return;
  }
  BOXCAR_CHECK(
      isWord(name),
      "PrivateUse1 cannot be named {}: a device's name consists of lowercase letters, digits and _, such as 'npu'",
      pythonStringRepr(name));
  const std::optional<DeviceType> other = parseDeviceType(name);
  BOXCAR_CHECK((!other.has_value() || *other == DeviceType::PrivateUse1) && !parseDtype(name),
               "PrivateUse1 cannot be named {}: that is {} already", pythonStringRepr(name),
               other.has_value() ? "a device" : "a dtype");
  privateuse1_name.store(new std::string(name), std::memory_order_release);
}

bool is_privateuse1_backend_registered() noexcept {
  return privateuse1_name.load(std::memory_order_acquire) != nullptr;
}

std::string get_privateuse1_backend(bool lower_case) {
  std::string name(toString(DeviceType::PrivateUse1));
  if (lower_case) return name;
  for (char& c : name) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return name;
}

Device::Device(std::string_view text) : Device(DeviceType::CPU) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const std::optional<DeviceType> type = parseDeviceType(name);
  if (!type) {
    BOXCAR_CHECK(!parseDtype(text), "{} is a dtype, not a device; write a dtype without quotes: {}",
                 pythonStringRepr(text), text);
    std::vector<std::string_view> names;
    for (const TypeInfo& info : kTypes) names.push_back(nameOf(info));
    BOXCAR_FAIL("device {} has the unknown type {}; the type is one of {}", pythonStringRepr(text),
                pythonStringRepr(name), alternatives(names));
  }
  type_ = *type;
  if (colon != std::string_view::npos) index_ = parseIndex(text.substr(colon + 1), text);
}

std::string toString(Device device) {
  std::string text(toString(device.type()));
  if (device.has_index()) text += ':' + std::to_string(device.index());
  return text;
}

DispatchKey toDispatchKey(DeviceType type) { return infoOf(type).key; }

BackendComponent toBackendComponent(DeviceType type) { return toBackendComponent(toDispatchKey(type)); }

std::optional<DeviceType> toDeviceType(BackendComponent backend) {
  if (backend == BackendComponent::InvalidBit) return std::nullopt;
  for (const TypeInfo& info : kTypes) {
    if (toBackendComponent(info.key) == backend) return info.type;
  }
  return std::nullopt;
}

}  // namespace boxcar
