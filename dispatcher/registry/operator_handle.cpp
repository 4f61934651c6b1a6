#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <vector>

namespace boxcar {

void OperatorHandle::failShortStack(const Stack& stack) const {
  const FunctionSchema& defined = schema();
  BOXCAR_CHECK(stack.size() < defined.arguments().size(),
               "operator {} was not defined when it was called, but another thread has defined it since; call it again",
               operator_name());
  BOXCAR_FAIL(
      "{}() takes {} arguments, but the stack holds {} values; push all arguments, those with defaults too. "
      "Schema: {}",
      operator_name(), defined.arguments().size(), stack.size(), defined);
}

bool OperatorHandle::hasTag(Tag tag) const {
  const std::vector<Tag> tags = getTags();
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

bool OperatorHandle::hasComputedKernelForDispatchKey(DispatchKey key) const {
  BOXCAR_CHECK(!isAliasDispatchKey(key), "{} is an alias key, and has no kernel itself; ask for one of its keys", key);
  const EntryCause cause = Dispatcher::singleton().computeTableEntry(*this, key).cause;
  return cause != EntryCause::Undefined && cause != EntryCause::Missing;
}

void OperatorHandle::callBoxedTheLongWay(Stack& stack) const {
  const DispatchKeyExtractor& extractor = entry_->dispatchKeyExtractor();
  try {
    const DispatchArguments& arguments = extractor.arguments();
    if (!stack.holdsBytes(arguments.bytes)) failShortStack(stack);
    const DispatchKeySet keys = extractor.getDispatchKeySetBoxed(arguments, stack);
    if (detail::callsAreWatched()) return callBoxedWatched(arguments, keys, stack);
    redispatchBoxedUnwatched(keys, stack);
  } catch (...) {
    detail::rethrowAsError(*this);
  }
}

void OperatorHandle::callBoxedWatched(const DispatchArguments& arguments, DispatchKeySet keys, Stack& stack) const {
  callWatched(arguments, keys, stack, [&] { redispatchBoxedUnwatched(keys, stack); });
}

template <class Run>
void OperatorHandle::callWatched(const DispatchArguments& arguments, DispatchKeySet keys, Stack& stack,
                                 Run&& run) const {
  // Uses the arguments that the stack was checked for, because the operator may be redefined at any time.
  const size_t below = stack.size() - arguments.bytes / sizeof(IValue);
  detail::WatchedCall watched(detail::CallKind::BoxedCall, *this, keys);
  if (Stack* inputs = watched.wantedInputs()) *inputs = Stack(stack.begin() + below, stack.end());
  watched.start();
  run();
  if (Stack* outputs = watched.wantedOutputs())
    *outputs = Stack(stack.begin() + std::min(below, stack.size()), stack.end());
  watched.finish();
}

void OperatorHandle::redispatchBoxedWatched(DispatchKeySet keys, Stack& stack) const {
  detail::WatchedCall watched(detail::CallKind::BoxedRedispatch, *this, keys);
  const size_t count = entry_->argumentBytes() / sizeof(IValue);
  if (Stack* inputs = watched.wantedInputs(); inputs != nullptr && stack.size() >= count)
    *inputs = Stack(stack.end() - count, stack.end());
  watched.start();
  redispatchBoxedUnwatched(keys, stack);
}

void OperatorHandle::callBoxedForDispatchKey(DispatchKey key, Stack& stack) const {
  const DispatchArguments& arguments = entry_->dispatchKeyExtractor().arguments();
  if (!stack.holdsBytes(arguments.bytes)) failShortStack(stack);
  const DispatchKeySet keys = entry_->dispatchKeyExtractor().getDispatchKeySetBoxed(arguments, stack);
  KernelFunction kernel = entry_->kernelForDispatchKey(key);
  if (!kernel.isValid()) kernel = Dispatcher::singleton().fallbackForDispatchKey(key);
  BOXCAR_CHECK(
      kernel.isValid(),
      "{} has no kernel that was registered for {}, and the key has no fallback. The operator has kernels for: "
      "{}. Ask for one of these, or register one for the key",
      operator_name(), key, entry_->listKernelKeys());
  try {
    // A fallthrough at [key] continues at the keys below it.
    if (kernel.isFallthrough()) return redispatchBoxed(keys & DispatchKeySet(DispatchKeySet::FULL_AFTER, key), stack);
    const auto run = [&] { kernel.kernel()->boxed(kernel.kernel(), *this, keys, stack); };
    if (!detail::callsAreWatched()) return run();
    callWatched(arguments, DispatchKeySet(key), stack, run);
  } catch (...) {
    detail::rethrowAsError(*this);
  }
}

}  // namespace boxcar
