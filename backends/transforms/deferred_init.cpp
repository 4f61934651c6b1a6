#include <boxcar/backends/transforms/deferred_init.h>
#include <boxcar/backends/transforms/deferred_tape.h>
#include <boxcar/backends/transforms/fake_rules.h>
#include <boxcar/backends/transforms/fake_scope.h>
#include <boxcar/backends/transforms/fake_tensor.h>
#include <boxcar/backends/transforms/level_text.h>
#include <boxcar/dispatcher/call/default_device.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/values/aliasing.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

// deferred_init() and materialize(). Calls are recorded at DispatchKey::DeferredInit, above autograd.

namespace boxcar::transforms {
namespace {

// The tape of the innermost deferredInit() of this thread; null outside.
constinit thread_local DeferredTape* current_tape = nullptr;

class TapeGuard final {
 public:
  explicit TapeGuard(DeferredTape& tape) noexcept : before_(current_tape) { current_tape = &tape; }
  ~TapeGuard() { current_tape = before_; }
  TapeGuard(const TapeGuard&) = delete;
  TapeGuard& operator=(const TapeGuard&) = delete;

 private:
  DeferredTape* before_;
};

// Returns the tape that the call belongs to: all those of its tensors become one.
IntrusivePtr<DeferredTape> tapeOf(const std::vector<PlacedTensor>& tensors) {
  IntrusivePtr<DeferredTape> tape;
  if (current_tape != nullptr) tape = IntrusivePtr<DeferredTape>::share(current_tape);
  for (const PlacedTensor& placed : tensors) {
    const IntrusivePtr<DeferredTape> other = DeferredTape::of(placed.tensor);
    if (!other) continue;
    if (tape) {
      tape->absorb(*other);
    } else {
      tape = other;
    }
  }
  return tape;
}

// Real tensors are recorded, and take part in the call below as fake ones. Numbers may stay.
IValue asFake(const IValue& value, FakeConverter& converter) {
  return mapTensors(value, [&](const Tensor& tensor) {
    const bool stays = !tensor.defined() || tensor.is_meta() || (tensor.is_cpu() && tensor.dim() == 0);
    return stays ? tensor : converter.convert(tensor);
  });
}

bool isScript(const OperatorHandle& op) {
  return Dispatcher::singleton().computeTableEntry(op, DispatchKey::Meta).site.is_script;
}

void runDeferred(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const DispatchKeySet below = keys.remove(DispatchKey::DeferredInit).add(DispatchKey::Fake);
  // The calls that these make are recorded instead.
  if (passesFakes(op) || isScript(op)) return op.redispatchBoxed(below, stack);
  const FunctionSchema& schema = op.schema();
  const size_t count = schema.arguments().size();
  const auto given = last(stack, count);
  std::vector<IValue> arguments(given.begin(), given.end());
  takeDefaultDevice(schema, arguments);
  const std::vector<PlacedTensor> tensors = tensorsOfArguments(schema, arguments);
  for (const PlacedTensor& placed : tensors) {
    BOXCAR_CHECK(!placed.isWritten() || isFake(placed.tensor) || placed.tensor.is_meta(),
                 "{}: {} is a real tensor, which cannot be written inside deferred_init(); write a clone() of it",
                 toString(op), placed.place);
  }
  const IntrusivePtr<DeferredTape> tape = tapeOf(tensors);
  const bool is_lift = op.operator_name().name == "aten::lift_fresh";
  const std::vector<IValue> before = DeferredTape::placeholders(arguments);
  drop(stack, count);
  FakeConverter converter;
  for (const IValue& argument : arguments) stack.push_back(is_lift ? argument : asFake(argument, converter));
  const size_t below_results = stack.size() - count;
  {
    const ExcludeDispatchKeyGuard inside(DispatchKey::DeferredInit);
    op.redispatchBoxed(below, stack);
  }
  if (!tape) return;
  const auto results = last(stack, stack.size() - below_results);
  for (const IValue& result : results) {
    visitTensors(result, [&](const Tensor& tensor) {
      if (isFake(tensor)) tape->attachTo(tensor);
    });
  }
  tape->record(op, before, results);
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
  const TapeGuard recording(*tape);
  const FakeTensorGuard fake;
  const IncludeDispatchKeyGuard deferred(DispatchKey::DeferredInit);
  return make();
}

IValue materialize(const IValue& value) {
  // Each tape makes all of its tensors at once, so that random numbers are drawn in the order of the calls.
  std::vector<std::pair<IntrusivePtr<DeferredTape>, std::vector<Tensor>>> wanted;
  visitTensors(value, [&](const Tensor& tensor) {
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
    const auto found = real.find(tensor.unsafeGetTensorImpl());
    return found == real.end() ? tensor : found->second;
  });
}

}  // namespace boxcar::transforms
