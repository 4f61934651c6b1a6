#include <boxcar/backends/autograd/anomaly_mode.h>
#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/dispatcher/call/scope.h>

#include <memory>
#include <optional>
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

// DetectAnomalyGuard with a value that is known late.
class AnomalyScope final : public Scope {
 public:
  explicit AnomalyScope(bool check_nan) noexcept : check_nan_(check_nan) {}
  void enter() override { guard_.emplace(check_nan_); }
  void leave() override { guard_.reset(); }

 private:
  bool check_nan_;
  std::optional<DetectAnomalyGuard> guard_;
};

std::unique_ptr<Scope> makeAnomalyMode(std::span<const IValue> arguments) {
  return std::make_unique<AnomalyScope>(arguments[0].toBool());
}

constexpr ScopeKind kKinds[] = {
    {"anomaly_mode(bool check_nan=True) -> ()",
     "Errors of backward passes name the lines that are to blame, and gradients that are not a number are errors.",
     &makeAnomalyMode},
    {"no_grad() -> ()", "Calls in the block are not recorded for differentiation.", &makeGradMode<false>},
    {"enable_grad() -> ()", "Calls in the block are recorded for differentiation.", &makeGradMode<true>},
    {"set_grad_enabled(bool mode) -> ()", "Chooses whether calls in the block are recorded for differentiation.",
     &makeChosenGradMode},
};
const RegisterScopeKinds kRegistered(kKinds);

}  // namespace
}  // namespace boxcar::autograd
