#include <boxcar/dispatcher/call/device_scope.h>
#include <boxcar/ivalue/error.h>

#include <atomic>

namespace boxcar {
namespace {

constinit std::atomic<const DeviceScopes*> scopes_in_use = nullptr;

}  // namespace

IValue DeviceScope::call(const FunctionCall& function) { return function.run(function.arguments); }

void setDeviceScopes(const DeviceScopes* scopes) noexcept { scopes_in_use.store(scopes, std::memory_order_release); }

const DeviceScopes& deviceScopes(std::string_view scope) {
  const DeviceScopes* const scopes = scopes_in_use.load(std::memory_order_acquire);
  BOXCAR_CHECK(scopes != nullptr, "{}: no backend of this program has such a scope", scope);
  return *scopes;
}

}  // namespace boxcar
