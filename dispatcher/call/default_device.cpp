#include <boxcar/dispatcher/call/default_device.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/call/scope.h>
#include <boxcar/ivalue/storage.h>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace boxcar {
namespace {

// One word, because thread-local storage is scarce in a shared library.
struct DefaultDeviceWord {
  DeviceType type = DeviceType::CPU;
  DeviceIndex index = -1;
  bool is_set = false;
};
static_assert(sizeof(DefaultDeviceWord) <= 4);
thread_local DefaultDeviceWord default_device;

bool takesTensors(const FunctionSchema& schema) {
  return std::ranges::any_of(schema.arguments(), [](const Argument& argument) {
    const Type* type = argument.type();
    if (type->isOptional()) type = type->element();
    if (type->kind() == TypeKind::List) type = type->element();
    return type->kind() == TypeKind::Tensor || type->kind() == TypeKind::Any;
  });
}

class DeviceScope final : public Scope {
 public:
  explicit DeviceScope(Device device) noexcept : device_(device) {}

  void enter() override {
    // A device that is not there is an error here and not at the first tensor.
    const bool needs_memory = !tls_is_dispatch_key_included(DispatchKey::Fake);
    if (needs_memory && !device_.is_cpu() && !device_.is_meta()) StorageImpl::allocate(1, device_);
    guard_.emplace(device_);
  }
  void leave() override { guard_.reset(); }

 private:
  Device device_;
  std::optional<DefaultDeviceGuard> guard_;
};

constexpr ScopeKind kDeviceKinds[] = {
    {"device(Device device) -> ()", "Tensors that the block makes without naming a device are on this one.",
     [](std::span<const IValue> arguments) -> std::unique_ptr<Scope> {
       return std::make_unique<DeviceScope>(arguments[0].toDevice());
     }},
};
const RegisterScopeKinds kDeviceKindsRegistered(kDeviceKinds);

}  // namespace

std::optional<Device> DefaultDevice::get() noexcept {
  const DefaultDeviceWord word = default_device;
  if (!word.is_set) return std::nullopt;
  return Device(word.type, word.index);
}

void DefaultDevice::set(std::optional<Device> device) noexcept {
  default_device = device ? DefaultDeviceWord{device->type(), device->index(), true} : DefaultDeviceWord{};
}

std::optional<size_t> factoryDevice(const FunctionSchema& schema) {
  const auto& arguments = schema.arguments();
  const auto found = std::ranges::find_if(arguments, [](const Argument& argument) {
    return argument.name() == "device" && argument.type()->isOptional() &&
           argument.type()->element()->kind() == TypeKind::Device;
  });
  if (found == arguments.end() || takesTensors(schema)) return std::nullopt;
  return static_cast<size_t>(found - arguments.begin());
}

void takeDefaultDevice(const FunctionSchema& schema, std::span<IValue> arguments) {
  const std::optional<Device> device = DefaultDevice::get();
  if (!device) return;
  const std::optional<size_t> position = factoryDevice(schema);
  if (position && arguments[*position].isNone()) arguments[*position] = *device;
}

}  // namespace boxcar
