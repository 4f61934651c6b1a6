#include <boxcar/backends/transforms/batched_call.h>
#include <boxcar/backends/transforms/level_text.h>
#include <boxcar/backends/transforms/vmap_level.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

// The kernel of random operators at FuncTorchVmapMode, which a thread includes inside func::vmap(): such an operator
// has to know of the batch even if none of its arguments is batched.

namespace boxcar::transforms {
namespace {

// Whether the call draws anything: dropout outside of training does not.
bool draws(const BatchedCall& call) {
  const std::vector<Argument>& arguments = call.op.schema().arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i].name();
    if ((name == "train" || name == "training") && call.args[i].isBool()) return call.args[i].toBool();
    if (name == "dropout_p" && call.args[i].isDouble()) return call.args[i].toDouble() != 0;
  }
  return true;
}

// Operators that draw along certain dimensions.
bool needsLoop(std::string_view name) {
  constexpr std::string_view kNames[] = {"aten::multinomial", "aten::randperm"};
  return std::ranges::find(kNames, name) != std::end(kNames) || name.starts_with("aten::feature_") ||
         name.starts_with("aten::rrelu");
}

bool hasTensors(const BatchedCall& call) {
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (call.hasTensor(i)) return true;
  }
  return false;
}

// The same numbers for each slice: drawn once.
std::vector<IValue> drawOnce(const BatchedCall& call) {
  size_t batched = 0;
  for (size_t i = 0; i < call.args.size(); ++i) batched += call.isBatched(i) ? 1 : 0;
  if (batched == 0) return callOperator(call.op, call.args);
  const bool writes_self = call.op.schema().is_mutable();
  BOXCAR_CHECK(
      batched == 1 && call.isBatched(size_t{0}) && (writes_self || call.op.schema().name().ends_with("_like")),
      "{}: vmap with randomness 'same' cannot draw the same numbers for the slices of a tensor that is vmapped "
      "over; use randomness 'different'",
      call.name());
  std::vector<IValue> args = call.args;
  Tensor first = boxcar::select(call.physical(0), 0, 0);
  if (!writes_self) {
    args[0] = first;
    return callOperator(call.op, std::move(args));
  }
  first = boxcar::clone(first);
  args[0] = first;
  callOperator(call.op, std::move(args));
  Tensor self = call.physical(0);
  boxcar::copy_(self, boxcar::unsqueeze(first, 0));
  return {call.logical(0)};
}

// Other numbers for each slice.
std::vector<IValue> drawForEach(const BatchedCall& call) {
  const bool writes_self = call.op.schema().is_mutable();
  if (writes_self) {
    BOXCAR_CHECK(call.isBatched(size_t{0}),
                 "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same "
                 "randomness. Call {} on {}.clone() of a tensor that is vmapped over, or outside of vmap",
                 call.name(), call.op.schema().arguments()[0].name());
  }
  std::vector<IValue> results;
  if (needsLoop(call.op.schema().name())) {
    BatchedCall each = call;
    for (size_t i = 0; i < each.args.size(); ++i) {
      if (each.hasTensor(i)) each.args[i] = makeBatched(call.expanded(i), call.level);
    }
    results = sliceLoop(each);
  } else {
    std::vector<IValue> args = call.args;
    if (hasTensors(call)) {
      int64_t rank = 0;
      for (size_t i = 0; i < args.size(); ++i) {
        if (call.hasTensor(i)) rank = std::max(rank, call.logical(i).dim());
      }
      for (size_t i = 0; i < args.size(); ++i) {
        if (call.hasTensor(i)) args[i] = alignedTo(call.expanded(i), rank);
      }
    } else {
      const size_t size = call.position("size");
      std::vector<int64_t> sizes = intsOf(args[size]);
      sizes.insert(sizes.begin(), call.batch);
      args[size] = sizes;
    }
    results = callOperator(call.op, std::move(args));
  }
  if (writes_self) return {call.logical(0)};
  for (IValue& result : results) {
    result = mapTensors(result, [&](const Tensor& tensor) { return makeBatched(tensor, call.level); });
  }
  return results;
}

void drawRandom(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const std::span<const VmapLevelInfo> levels = vmapLevels();
  const size_t count = op.schema().arguments().size();
  const std::span<IValue> given = last(stack, count);
  const VmapLevelInfo level = levels.empty() ? VmapLevelInfo{} : levels.back();
  const BatchedCall call(op, std::vector<IValue>(given.begin(), given.end()), level.level, level.batch);
  if (levels.empty() || !draws(call)) {
    return op.redispatchBoxed(keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::FuncTorchVmapMode), stack);
  }
  BOXCAR_CHECK(level.randomness != Randomness::kError,
               "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
               "'different' randomness flags on vmap or perform the randomness operation out of vmap. The operation "
               "is {}",
               call.name());
  std::vector<IValue> results;
  {
    const OuterVmapLevels outer(levels.size() - 1);
    results = level.randomness == Randomness::kSame ? drawOnce(call) : drawForEach(call);
  }
  pop(stack, count);
  for (IValue& result : results) stack.push_back(std::move(result));
}

// Registers the kernel for every random operator that is there or comes.
class RandomRegistrar final : public OpRegistrationListener {
 public:
  void onOperatorRegistered(const OperatorHandle& op) override {
    if (!op.hasTag(Tag::nondeterministic_seeded) ||
        op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd)) {
      return;
    }
    handles_.insert_or_assign(op.operator_name(),
                              Dispatcher::singleton().registerImpl(op.operator_name(), DispatchKey::FuncTorchVmapMode,
                                                                   kernel_, {__FILE__, __LINE__}));
  }
  void onOperatorDeregistered(const OperatorHandle& op) override { handles_.erase(op.operator_name()); }

 private:
  const KernelFunction kernel_ = KernelFunction::makeFromBoxedFunction<&drawRandom>();
  std::unordered_map<OperatorName, RegistrationHandleRAII> handles_;
};

}  // namespace

void registerRandomKernels() {
  setLevelDescriber(DispatchKey::FuncTorchVmapMode, &describeRandomLevel);
  // Never destroyed: calls may run when the process ends.
  static auto& registration =
      *new RegistrationHandleRAII(Dispatcher::singleton().addRegistrationListener(std::make_unique<RandomRegistrar>()));
  (void)registration;
}

}  // namespace boxcar::transforms
