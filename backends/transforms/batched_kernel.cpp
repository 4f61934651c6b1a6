#include <boxcar/backends/autograd/gradient_rule.h>
#include <boxcar/backends/transforms/batching_table.h>
#include <boxcar/backends/transforms/level_text.h>
#include <boxcar/backends/transforms/vmap_level.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/transform_text.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

// The kernel at FuncTorchBatched, one for all operators. It stands above the autograd keys: what a rule calls on the
// tensors inside is recorded, so derivatives belong to plain tensors. It takes off the innermost level; the others come
// when the rule's calls arrive here again.

namespace boxcar::transforms {
namespace {

uint64_t innermostLevel(std::span<const IValue> args) {
  uint64_t level = 0;
  for (const IValue& arg : args) {
    visitTensors(arg, [&](const Tensor& tensor) { level = std::max(level, levelOf(tensor)); });
  }
  return level;
}

// The operator's own kernel, which calls others on the batched tensors.
void decompose(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  constexpr DispatchKeySet kBackends = DispatchKeySet(DispatchKey::Dense) | backend_bitset_mask;
  op.redispatchBoxedUnwatched(keys & kBackends, stack);
}

// Gives the first argument what the call in place has left.
IValue written(const BatchedCall& call, const IValue& result) {
  const Tensor& self = call.logical(0);
  const Tensor inner = innerOf(self);
  const Tensor& found = result.toTensor();
  if (!found.is_same(inner)) {
    if (found.storage() != inner.storage()) {
      Tensor target = inner;
      boxcar::copy_(target, found);
    } else if (call.op.hasTag(Tag::inplace_view)) {
      replaceInner(self, found);
    }
  }
  refreshBatched(self);
  return self;
}

// Puts what is inside the batched arguments of an operator of elements in their place. Returns whether it could: the
// rule of the family serves those that must be aligned first, and lists.
bool takeOffLevel(std::span<IValue> args, uint64_t level) {
  int64_t rank = 0;           // of all tensors
  int64_t least = INT64_MAX;  // of those at this level
  bool all_are_at_level = true;
  for (const IValue& arg : args) {
    if (arg.isTensorList() || arg.isGenericList()) return false;
    if (!arg.isTensor()) continue;
    const Tensor& tensor = arg.unsafeGet<IValue::Tag::Tensor>();
    if (!tensor.defined()) return false;
    rank = std::max(rank, tensor.dim());
    if (levelOf(tensor) == level) {
      least = std::min(least, tensor.dim());
    } else {
      all_are_at_level = false;
    }
  }
  if (least != rank || (rank == 0 && !all_are_at_level)) return false;
  for (IValue& arg : args) {
    if (!arg.isTensor()) continue;
    Tensor& tensor = arg.unsafeGet<IValue::Tag::Tensor>();
    if (levelOf(tensor) == level) arg = innerOf(tensor);
  }
  return true;
}

void callBatched(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const std::vector<Argument>& parameters = op.schema().arguments();
  const std::span<IValue> given = last(stack, parameters.size());
  const uint64_t level = innermostLevel(given);
  if (level == 0) {  // the thread includes the key
    return op.redispatchBoxed(keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::FuncTorchBatched), stack);
  }
  const BatchingPlan& plan = batchingPlan(op);
  BOXCAR_CHECK(plan.kind != BatchingPlan::Kind::kRefuse, "{} cannot be called inside {}(): {}", toString(op),
               vmapLevelOf(level).transform, plan.reason);
  const bool loops = plan.kind == BatchingPlan::Kind::kLoop;
  if (plan.kind == BatchingPlan::Kind::kDecompose && !hasOwnGradient(op)) return decompose(op, keys, stack);
  if (plan.is_of_elements && takeOffLevel(given, level)) {
    {
      // What a rule calls is outside of this level.
      const OuterVmapLevels outer(vmapLevelsAround(level));
      op.callBoxed(stack);
    }
    IValue& result = stack.back();
    result = makeBatched(result.toTensor(), level);
    return;
  }
  const BatchedCall call(op, std::vector<IValue>(given.begin(), given.end()), level, vmapLevelOf(level).batch);
  const bool is_loop = loops || plan.rule == nullptr || (call.batch == 0 && plan.needs_slices);
  std::vector<IValue> results;
  {
    const OuterVmapLevels outer(vmapLevelsAround(level));
    results = is_loop ? sliceLoop(call) : plan.rule(call, plan.words);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (i == 0 && plan.writes_self) {
      results[0] = written(call, results[0]);
      continue;
    }
    results[i] = mapTensors(results[i], [&](const Tensor& tensor) {
      if (!tensor.defined()) return tensor;
      // A result that was not asked for, such as the singular vectors of svdvals().
      if (tensor.numel() == 0 && (tensor.dim() == 0 || tensor.size(0) != call.batch)) return tensor;
      return makeBatched(tensor, level);
    });
  }
  pop(stack, parameters.size());
  for (IValue& result : results) stack.push_back(std::move(result));
}

}  // namespace

bool hasOwnGradient(const OperatorHandle& op) {
  if (!op.hasKernelForDispatchKey(DispatchKey::Autograd) && !op.hasKernelForDispatchKey(DispatchKey::AutogradCPU)) {
    return false;
  }
  const TableEntry entry = Dispatcher::singleton().computeTableEntry(op, DispatchKey::AutogradCPU);
  return entry.kernel->kind == KernelKind::Function && !(entry.site == autograd::autogradKernelSite());
}

void registerBatchedKernels() {
  static std::once_flag once;
  std::call_once(once, [] {
    // Never destroyed: calls may run when the process ends.
    static auto& registration = *new RegistrationHandleRAII(Dispatcher::singleton().registerFallback(
        DispatchKey::FuncTorchBatched, KernelFunction::makeFromBoxedFunction<&callBatched>(), {__FILE__, __LINE__}));
    (void)registration;
    setLevelDescriber(DispatchKey::FuncTorchBatched, &describeBatchedLevel);
    registerRandomKernels();
    setTransformText(&batchedText);
  });
}

}  // namespace boxcar::transforms
