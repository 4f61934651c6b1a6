#include <boxcar/dispatcher/call/scope.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace boxcar {
namespace {

// Of a list: constructors of other sources may add to it before this source's would run.
constinit const RegisterScopeKinds* last_registered = nullptr;

}  // namespace

IValue Scope::call(const FunctionCall& function) { return function.run(function.arguments); }

RegisterScopeKinds::RegisterScopeKinds(std::span<const ScopeKind> kinds) noexcept
    : kinds_(kinds), next_(std::exchange(last_registered, this)) {}

std::vector<const ScopeKind*> scopeKinds() {
  std::vector<const ScopeKind*> found;
  for (const RegisterScopeKinds* each = last_registered; each != nullptr; each = each->next_) {
    for (const ScopeKind& kind : each->kinds_) found.push_back(&kind);
  }
  std::ranges::sort(found, {}, [](const ScopeKind* kind) { return kind->name(); });
  return found;
}

const ScopeKind* findScopeKind(std::string_view name) {
  for (const ScopeKind* kind : scopeKinds()) {
    if (kind->name() == name) return kind;
  }
  return nullptr;
}

}  // namespace boxcar
