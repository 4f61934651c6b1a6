#include <boxcar/dispatcher/call/device_scopes.h>
#include <boxcar/ivalue/error.h>

#include <atomic>
#include <span>
#include <string_view>

namespace boxcar {
namespace {

constinit std::atomic<const DeviceScopes*> scopes_in_use = nullptr;

// Throws an Error that names [scope] if no backend set any.
const DeviceScopes& deviceScopes(std::string_view scope) {
  const DeviceScopes* const scopes = scopes_in_use.load(std::memory_order_acquire);
  BOXCAR_CHECK(scopes != nullptr, "{}: no backend of this program has such a scope", scope);
  return *scopes;
}

std::unique_ptr<Scope> makeStream(std::span<const IValue> arguments) {
  return deviceScopes("stream()").stream(arguments[0].to<std::optional<Device>>());
}

std::unique_ptr<Scope> makeGraph(std::span<const IValue>) { return deviceScopes("cuda_graph()").graph(); }

constexpr ScopeKind kKinds[] = {
    {"stream(Device? device=None) -> ()", "Runs work on a CUDA device on a stream of its own.", &makeStream},
    {"cuda_graph() -> ()", "Captures the functions that the block calls as CUDA graphs, and replays them.", &makeGraph},
};
const RegisterScopeKinds kRegistered(kKinds);

}  // namespace

void setDeviceScopes(const DeviceScopes* scopes) noexcept { scopes_in_use.store(scopes, std::memory_order_release); }

}  // namespace boxcar
