#include <boxcar/backends/transforms/batched_tensor.h>
#include <boxcar/backends/transforms/deferred_init.h>
#include <boxcar/backends/transforms/deferred_tape.h>
#include <boxcar/backends/transforms/fake_rules.h>
#include <boxcar/backends/transforms/fake_scope.h>
#include <boxcar/backends/transforms/fake_tensor.h>
#include <boxcar/backends/transforms/level_text.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/values/aliasing.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

// deferred_init() and materialize().

namespace boxcar::transforms {
namespace {

// Opens the tape for the calls that this one leads to. Those that reach fake tensors are recorded there
// (fake_kernel.cpp): what autocast, vmap, autograd and the like do is done by then.
void runDeferred(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const DispatchKeySet below = keys.remove(DispatchKey::DeferredInit);
  if (passesFakes(op)) return op.redispatchBoxed(below, stack);
  const ExcludeDispatchKeyGuard once(DispatchKey::DeferredInit);
  const IntrusivePtr<DeferredTape> tape =
      DeferredTape::of(tensorsOfArguments(op.schema(), last(stack, op.schema().arguments().size())));
  if (!tape) return op.redispatchBoxed(below, stack);
  const DeferredTape::Guard recording(*tape);
  op.redispatchBoxed(below, stack);
}

void registerDeferredKernel() {
  static std::once_flag once;
  std::call_once(once, [] {
    // Never destroyed: calls may run when the process ends.
    static auto& registration = *new RegistrationHandleRAII(Dispatcher::singleton().registerFallback(
        DispatchKey::DeferredInit, KernelFunction::makeFromBoxedFunction<&runDeferred>(), {__FILE__, __LINE__}));
    (void)registration;
    setLevelDescriber(DispatchKey::DeferredInit, &describeDeferredLevel);
  });
}

}  // namespace

IValue deferredInit(const std::function<IValue()>& make) {
  registerDeferredKernel();
  const auto tape = makeIntrusive<DeferredTape>();
  const DeferredTape::Guard recording(*tape);
  const FakeTensorGuard fake;
  const IncludeDispatchKeyGuard deferred(DispatchKey::DeferredInit);
  return make();
}

namespace {

// The tensor without the batches of func::vmap(), which is what was made.
const Tensor& withoutBatches(const Tensor& tensor) {
  const Tensor* inner = &tensor;
  while (inner->defined() && isBatched(*inner)) inner = &innerOf(*inner);
  return *inner;
}

// [tensor], with what is inside the batches replaced by [made].
Tensor inBatchesOf(const Tensor& tensor, const Tensor& made) {
  return isBatched(tensor) ? makeBatched(inBatchesOf(innerOf(tensor), made), levelOf(tensor)) : made;
}

}  // namespace

IValue materialize(const IValue& value) {
  // Each tape makes all of its tensors at once, so that random numbers are drawn in the order of the calls.
  std::vector<std::pair<IntrusivePtr<DeferredTape>, std::vector<Tensor>>> wanted;
  visitTensors(value, [&](const Tensor& given) {
    const Tensor& tensor = withoutBatches(given);
    const IntrusivePtr<DeferredTape> tape = DeferredTape::of(tensor);
    BOXCAR_CHECK(tape || !isFake(tensor),
                 "func::materialize: a fake tensor of sizes [{}] was not made by func::deferred_init, so nothing says "
                 "what its elements are",
                 fmt::join(tensor.sizes(), ", "));
    if (!tape) return;
    auto known = std::ranges::find_if(wanted, [&](const auto& pair) { return pair.first == tape; });
    if (known == wanted.end()) known = wanted.insert(wanted.end(), {tape, {}});
    if (std::ranges::none_of(known->second, [&](const Tensor& other) { return other.is_same(tensor); })) {
      known->second.push_back(tensor);
    }
  });
  std::map<const TensorImpl*, Tensor> real;
  for (const auto& [tape, fakes] : wanted) {
    const std::vector<Tensor> made = tape->materialize(fakes);
    for (size_t i = 0; i < fakes.size(); ++i) real.emplace(fakes[i].unsafeGetTensorImpl(), made[i]);
  }
  return mapTensors(value, [&](const Tensor& tensor) {
    const auto found = real.find(withoutBatches(tensor).unsafeGetTensorImpl());
    return found == real.end() ? tensor : inBatchesOf(tensor, found->second);
  });
}

}  // namespace boxcar::transforms
