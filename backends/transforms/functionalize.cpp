#include <boxcar/backends/transforms/function_transforms.h>
#include <boxcar/backends/transforms/functional_scope.h>
#include <boxcar/backends/transforms/functionalize.h>
#include <boxcar/dispatcher/call/scope.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/function_object.h>
#include <boxcar/schema/function_schema.h>
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar {

struct FunctionalizeGuard::State {
  transforms::FunctionalScope scope;
};

FunctionalizeGuard::FunctionalizeGuard(FunctionalViews views)
    : state_(new State{transforms::FunctionalScope(views == FunctionalViews::kCopy)}) {}

FunctionalizeGuard::~FunctionalizeGuard() {
  try {
    leave();
  } catch (const Error&) {
    // The program's memory holds what it wrote.
  }
}

void FunctionalizeGuard::leave() {
  if (!state_) return;
  const std::unique_ptr<State> state = std::move(state_);
  state->scope.leave();
}

Tensor FunctionalizeGuard::valueOf(const Tensor& tensor) const {
  return state_ ? state_->scope.valueOf(tensor) : tensor;
}

namespace transforms {
namespace {

FunctionalViews viewsNamed(std::string_view what, std::string_view name) {
  if (name == "keep") return FunctionalViews::kKeep;
  BOXCAR_CHECK(name == "copy", "{}: views must be 'keep' or 'copy', not '{}'", what, name);
  return FunctionalViews::kCopy;
}

class FunctionalizeBlock final : public Scope {
 public:
  explicit FunctionalizeBlock(FunctionalViews views) noexcept : views_(views) {}
  void enter() override { guard_.emplace(views_); }
  void leave() override {
    if (guard_) guard_->leave();
    guard_.reset();
  }

 private:
  FunctionalViews views_;
  std::optional<FunctionalizeGuard> guard_;
};

std::unique_ptr<Scope> makeFunctionalizeBlock(std::span<const IValue> arguments) {
  return std::make_unique<FunctionalizeBlock>(viewsNamed("functionalize()", arguments[0].toStringView()));
}

constexpr ScopeKind kFunctionalizeKinds[] = {
    {"functionalize(str views='keep') -> ()",
     "Calls in the block that write are made as their functional forms; views='copy' makes copies of views, too.",
     &makeFunctionalizeBlock},
};
const RegisterScopeKinds kFunctionalizeRegistered(kFunctionalizeKinds);

FunctionPtr functionalizeFunction(const FunctionPtr& func, std::string_view views) {
  const bool copies = viewsNamed("func::functionalize", views) == FunctionalViews::kCopy;
  return makeFunction(func->schema(), [func, copies](Stack& stack) {
    FunctionalScope scope(copies);
    const size_t base = func->schema().is_vararg() ? 0 : stack.size() - func->schema().arguments().size();
    func->call(stack);
    std::vector<IValue> results(stack.begin() + base, stack.end());
    stack.resize(base);
    for (IValue& result : scope.leaveWith(results)) stack.push_back(std::move(result));
  });
}

}  // namespace

void addFunctionalize(Library& m) { m.impl("functionalize", BOXCAR_FN(functionalizeFunction)); }

}  // namespace transforms
}  // namespace boxcar
