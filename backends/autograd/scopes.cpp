#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/dispatcher/call/scope.h>

#include <memory>
#include <span>

// `with no_grad()` and its like.

namespace boxcar::autograd {
namespace {

template <bool enabled>
std::unique_ptr<Scope> makeGradMode(std::span<const IValue>) {
  return std::make_unique<GuardScope<AutoGradMode, enabled>>();
}

std::unique_ptr<Scope> makeChosenGradMode(std::span<const IValue> arguments) {
  return arguments[0].toBool() ? makeGradMode<true>({}) : makeGradMode<false>({});
}

constexpr ScopeKind kKinds[] = {
    {"no_grad() -> ()", "Calls in the block are not recorded for differentiation.", &makeGradMode<false>},
    {"enable_grad() -> ()", "Calls in the block are recorded for differentiation.", &makeGradMode<true>},
    {"set_grad_enabled(bool mode) -> ()", "Chooses whether calls in the block are recorded for differentiation.",
     &makeChosenGradMode},
};
const RegisterScopeKinds kRegistered(kKinds);

}  // namespace
}  // namespace boxcar::autograd
