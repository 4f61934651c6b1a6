#include <boxcar/dispatcher/dispatcher.h>
#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <vector>

namespace boxcar {

void OperatorHandle::failShortStack(const Stack& stack) const {
  const FunctionSchema& defined = schema();
  BOXCAR_FAIL(
      "{}() takes {} arguments, but the stack holds {} values; push all arguments, those with defaults too. "
      "Schema: {}",
      operator_name(), defined.arguments().size(), stack.size(), defined);
}

void OperatorHandle::failArgumentCount(size_t given) const {
  const FunctionSchema& defined = schema();
  BOXCAR_FAIL(
      "{}() takes {} arguments since it was defined anew, but was called with {} through a handle from before; make "
      "the handle anew with typed<>(). Schema: {}",
      operator_name(), defined.arguments().size(), given, defined);
}

bool OperatorHandle::hasTag(Tag tag) const {
  const std::vector<Tag> tags = getTags();
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

bool OperatorHandle::hasComputedKernelForDispatchKey(DispatchKey key) const {
  BOXCAR_CHECK(!isAliasDispatchKey(key), "{} is an alias key, so nothing is computed for it; ask for one of its keys",
               key);
  const CellCause cause = Dispatcher::singleton().computeCell(*this, key).cause;
  return cause == CellCause::Exact || cause == CellCause::Alias;
}

void OperatorHandle::callBoxedTheLongWay(Stack& stack) const {
  const DispatchKeyExtractor& extractor = entry_->dispatchKeyExtractor();
  try {
    for (;;) {
      const DispatchArguments& arguments = extractor.arguments();
      if (!stack.holdsBytes(arguments.bytes)) failShortStack(stack);
      const DispatchKeySet keys = extractor.getDispatchKeySetBoxed(arguments, stack);
      if (detail::callsAreWatched()) return callBoxedWatched(arguments, keys, stack);
      const Kernel* kernel = entry_->lookup(keys);
      if (&extractor.arguments() == &arguments) return kernel->boxed(kernel, *this, keys, stack);
    }
  } catch (...) {
    detail::rethrowAsError(*this);
  }
}

void OperatorHandle::callBoxedWatched(const DispatchArguments& arguments, DispatchKeySet keys, Stack& stack) const {
  // By the arguments that the stack was checked for: the operator may be defined anew at any time.
  const size_t below = stack.size() - arguments.bytes / sizeof(IValue);
  detail::WatchedCall watched(detail::CallKind::BoxedCall, *this, keys);
  watched.start(watched.needsInputs() ? Stack(stack.begin() + below, stack.end()) : Stack());
  redispatchBoxedUnwatched(keys, stack);
  if (watched.needsOutputs()) watched.setOutputs(Stack(stack.begin() + below, stack.end()));
}

void OperatorHandle::redispatchBoxedWatched(DispatchKeySet keys, Stack& stack) const {
  const detail::WatchedCall watched(detail::CallKind::BoxedRedispatch, *this, keys);
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
      "{}",
      operator_name(), key, entry_->listKernelKeys());
  try {
    kernel.record()->boxed(kernel.record(), *this, keys, stack);
  } catch (...) {
    detail::rethrowAsError(*this);
  }
}

}  // namespace boxcar
