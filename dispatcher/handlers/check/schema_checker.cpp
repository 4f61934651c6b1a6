#include <boxcar/dispatcher/call/hidden_calls.h>
#include <boxcar/dispatcher/handlers/check/effect_watch.h>
#include <boxcar/dispatcher/handlers/check/schema_checker.h>
#include <boxcar/dispatcher/handlers/check/schema_promises.h>
#include <boxcar/dispatcher/handlers/script_kernel.h>
#include <boxcar/dispatcher/values/value_copy.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/stopped_error.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace boxcar {
namespace {

std::vector<IValue> listOf(std::span<const IValue> values) { return {values.begin(), values.end()}; }

// Whether the same inputs must give the same results, as far as is known before the call.
bool mustRepeat(const OperatorHandle& op, DispatchKeySet keys, std::span<const IValue> arguments) {
  // The last one is of operators on what is known of tensors besides their elements, which copies do not have.
  for (const Tag tag : {Tag::nondeterministic_seeded, Tag::nondeterministic_bitwise, Tag::io, Tag::differentiation}) {
    if (op.hasTag(tag)) return false;
  }
  // A tensor inside func::vmap() stands for slices of another, and one of func::deferred_init() knows how it is made. A
  // copy of it would not.
  if (keys.has(DispatchKey::FuncTorchBatched) || keys.has(DispatchKey::DeferredInit)) return false;
  // These are not copied, and the effects of a call on them cannot be observed.
  const bool has_objects = std::ranges::any_of(arguments, [](const IValue& value) {
    return value.isObject() || value.isStorage() || value.isStream() || value.isGenerator();
  });
  return !has_objects && !runsScriptKernel(op, keys);
}

// The outcome of a call: its arguments, which it may have written, and its results.
struct Outcome {
  std::vector<IValue> arguments;
  std::vector<IValue> results;
};

Outcome runHidden(const OperatorHandle& op, DispatchKeySet keys, Stack stack) {
  Outcome outcome{listOf(last(stack, stack.size())), {}};
  const HiddenCalls hidden;
  try {
    op.redispatchBoxed(keys - kOnlookerKeys, stack);
  } catch (const StoppedError&) {
    throw;
  } catch (const std::exception& error) {
    BOXCAR_FAIL("{} failed when it was called again with the same inputs: {}", op, error.what());
  }
  outcome.results = listOf(last(stack, stack.size()));
  return outcome;
}

}  // namespace

void SchemaChecker::call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const FunctionSchema& schema = op.schema();
  EffectWatch watch(op);
  if (schema.is_vararg()) return op.redispatchBoxed(keys, stack);
  const size_t count = schema.arguments().size();
  const size_t below = stack.size() - count;
  const std::vector<IValue> arguments = listOf(last(stack, count));
  Stack before = copyValues(arguments);
  op.redispatchBoxed(keys, stack);

  BOXCAR_CHECK(stack.size() >= below, "{} took {} values more off the stack than it has arguments: {}", op,
               below - stack.size(), schema);
  const std::vector<IValue> results = listOf(last(stack, stack.size() - below));
  promises::checkResultTypes(op, results);
  promises::checkUnchanged(op, arguments, last(before, count));
  promises::checkAliasing(op, arguments, results);
  if (watch.actedOutside() || !mustRepeat(op, keys, arguments)) return;

  Outcome first{arguments, results};
  // Other handlers may have changed the results. In that case two runs of the kernels are compared.
  const bool has_others =
      modeCount() + modeCount(DispatchKey::Python) > 1 || keys.has_any(kOnlookerKeys.remove(DispatchKey::PreDispatch));
  if (has_others) first = runHidden(op, keys, copyValues(last(before, count)));
  const Outcome second = runHidden(op, keys, std::move(before));
  promises::checkSame(op, first.arguments, first.results, second.arguments, second.results);
}

constinit const HandlerKind kCheckSchemaKind = {
    "check_schema() -> ()",
    "Stop at a call that breaks its schema's promises about writes, views and results; repeats calls that are not "
    "tagged io",
    [](std::span<const IValue>) -> std::unique_ptr<Handler> { return std::make_unique<SchemaChecker>(); }};

}  // namespace boxcar
