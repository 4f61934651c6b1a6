#include <boxcar/backends/transforms/fake_kernel.h>
#include <boxcar/backends/transforms/fake_scope.h>
#include <boxcar/backends/transforms/fake_tensor.h>
#include <boxcar/dispatcher/call/scope.h>

#include <memory>
#include <span>

// `with fake("cuda")`.

namespace boxcar::transforms {
namespace {

class FakeScope final : public Scope {
 public:
  explicit FakeScope(std::optional<Device> device) noexcept : device_(device) {}
  void enter() override { guard_.emplace(device_); }
  void leave() override { guard_.reset(); }

 private:
  std::optional<Device> device_;
  std::optional<FakeTensorGuard> guard_;
};

constexpr ScopeKind kFakeKinds[] = {
    {"fake(Device? device=None) -> ()",
     "Tensors that the block makes have shapes, dtypes and devices, but no memory, and the device need not be there.",
     [](std::span<const IValue> arguments) -> std::unique_ptr<Scope> {
       return std::make_unique<FakeScope>(arguments[0].to<std::optional<Device>>());
     }},
};
const RegisterScopeKinds kFakeRegistered(kFakeKinds);

std::optional<Device> orDefault(std::optional<Device> device) {
  return device ? std::optional(withIndex(*device)) : DefaultDevice::get();
}

}  // namespace

FakeTensorGuard::FakeTensorGuard(std::optional<Device> device)
    : fake_((registerFakeKernel(), DispatchKey::Fake)), device_(orDefault(device)) {}

}  // namespace boxcar::transforms
