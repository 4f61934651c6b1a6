#include <boxcar/backends/transforms/functional_calls.h>
#include <boxcar/backends/transforms/functional_scope.h>
#include <boxcar/backends/transforms/level_text.h>
#include <boxcar/dispatcher/call/hidden_calls.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/registration_handle.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <source_location>
#include <span>
#include <utility>

namespace boxcar::transforms {
namespace {

constinit thread_local FunctionalScope* serving_scope = nullptr;

// Functionalize and what has served a call before: calls that the scope makes go on below. What kernels conjugate or
// negate lazily is still resolved.
constexpr DispatchKeySet kDone =
    DispatchKeySet({DispatchKey::Functionalize, DispatchKey::AutocastCPU, DispatchKey::AutocastXPU,
                    DispatchKey::AutocastIPU, DispatchKey::AutocastHPU, DispatchKey::AutocastXLA,
                    DispatchKey::AutocastCUDA, DispatchKey::AutocastPrivateUse1, DispatchKey::FuncTorchBatched,
                    DispatchKey::FuncTorchVmapMode, DispatchKey::Batched, DispatchKey::VmapMode,
                    DispatchKey::FuncTorchGradWrapper, DispatchKey::FuncTorchDynamicLayerFrontMode}) |
    autograd_dispatch_keyset;

void functionalizeCall(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const DispatchKeySet below = keys & after_func_keyset;
  FunctionalScope* const scope = FunctionalScope::current();
  if (scope == nullptr || planOf(op).kind == OperatorPlan::Kind::kPass) return op.redispatchBoxed(below, stack);
  const ExcludeDispatchKeyGuard done(kDone);
  FunctionalCall(scope->values(), op, below, stack).run();
}

// A key below all that watches calls, and above the kernels. At the end of a scope, copy_() and resize_() get there:
// the memory holds what they write already, and a write would make what was saved for backward look stale.
constexpr DispatchKey kWritesNothing = DispatchKey::CustomRNGKeyId;

struct CopiesNothing {
  static constexpr WriteCount kWriteCount = WriteCount::kNever;

  Tensor& operator()(DispatchKeySet keys, Tensor& self, const Tensor& src, bool non_blocking) const {
    // A trace may copy what it has not seen yet.
    if (HiddenCalls::areOn()) return boxcar::redispatch::copy_(keys.remove(kWritesNothing), self, src, non_blocking);
    return self;
  }
};

// What resize_() calls.
struct ResizesNothing {
  static constexpr WriteCount kWriteCount = WriteCount::kNever;

  Tensor& operator()(DispatchKeySet keys, std::span<const int64_t> size, std::optional<MemoryFormat> memory_format,
                     Tensor& out) const {
    if (HiddenCalls::areOn())
      return boxcar::redispatch::empty_out(keys.remove(kWritesNothing), out, size, memory_format);
    return out;
  }
};

// Registers the kernels when the first scope begins: most programs have none.
void registerKernels() {
  static std::once_flag once;
  std::call_once(once, [] {
    const std::source_location here = std::source_location::current();
    const RegistrationSite site{here.file_name(), here.line()};
    Dispatcher& dispatcher = Dispatcher::singleton();
    // Never destroyed: calls may run when the process ends.
    static auto& fallback = *new RegistrationHandleRAII(dispatcher.registerFallback(
        DispatchKey::Functionalize, KernelFunction::makeFromBoxedFunction<&functionalizeCall>(), site));
    static auto& copy = *new RegistrationHandleRAII(dispatcher.registerImpl(
        {"aten::copy_", ""}, kWritesNothing, KernelFunction::makeFromUnboxedLambda(CopiesNothing()), site));
    (void)fallback;
    static auto& resize = *new RegistrationHandleRAII(dispatcher.registerImpl(
        {"aten::empty", "out"}, kWritesNothing, KernelFunction::makeFromUnboxedLambda(ResizesNothing()), site));
    (void)copy;
    (void)resize;
    setLevelDescriber(DispatchKey::Functionalize, &describeFunctionalizeLevel);
  });
}

// Whether calls are seen by more than their kernels.
bool isWatched() {
  return tls_is_dispatch_key_included(DispatchKey::Tracer) || hasModesBelow(DispatchKey::Functionalize);
}

}  // namespace

FunctionalScope::FunctionalScope(bool copies_views) : values_(copies_views) {
  if (serving_scope != nullptr) return;
  registerKernels();
  serving_scope = this;
  included_.emplace(DispatchKey::Functionalize);
}

FunctionalScope::~FunctionalScope() { stop(); }

FunctionalScope* FunctionalScope::current() noexcept { return serving_scope; }

Tensor FunctionalScope::valueOf(const Tensor& tensor) {
  const ExcludeDispatchKeyGuard done(kDone);
  return values_.current(tensor);
}

void FunctionalScope::stop() noexcept {
  if (!isServing()) return;
  serving_scope = nullptr;
  included_.reset();
}

void FunctionalScope::writeBack(std::span<const FunctionalValues::Written> written) const {
  const ExcludeDispatchKeyGuard done(kDone);
  const IncludeDispatchKeyGuard writes_nothing(kWritesNothing);
  const OperatorHandle copy = Dispatcher::singleton().findSchemaOrThrow("aten::copy_", "");
  for (const FunctionalValues::Written& one : written) {
    if (one.is_resized) {
      Tensor resized = one.tensor;
      boxcar::resize_(resized, one.tensor.sizes());
    }
    Stack stack{one.tensor, one.value, false};
    copy.callBoxed(stack);
  }
}

void FunctionalScope::leave() {
  if (!isServing()) return;
  stop();
  // The memory holds it already.
  if (!isWatched()) return;
  std::vector<FunctionalValues::Written> written;
  {
    const ExcludeDispatchKeyGuard done(kDone);
    written = values_.written();
  }
  writeBack(written);
}

std::vector<IValue> FunctionalScope::leaveWith(std::span<const IValue> results) {
  std::vector<IValue> values(results.begin(), results.end());
  if (!isServing()) return values;
  stop();
  if (!isWatched()) return values;
  std::vector<FunctionalValues::Written> written;
  {
    const ExcludeDispatchKeyGuard done(kDone);
    written = values_.written();
    // A result with a history, or one on the caller's memory, stays the tensor that it is.
    std::vector<Storage> kept;
    const auto valueOf = [&](const Tensor& tensor) {
      if (!tensor.defined()) return tensor;
      if (values_.isMade(tensor.storage()) && !tensor.requires_grad()) return values_.current(tensor);
      kept.push_back(tensor.storage());
      return tensor;
    };
    for (IValue& value : values) {
      bool has_tensor = false;
      visitTensors(value, [&](const Tensor&) { has_tensor = true; });
      if (has_tensor) value = mapTensors(value, valueOf);
    }
    std::erase_if(written, [&](const FunctionalValues::Written& one) {
      const Storage& storage = one.tensor.storage();
      return values_.isMade(storage) && std::find(kept.begin(), kept.end(), storage) == kept.end();
    });
  }
  writeBack(written);
  return values;
}

}  // namespace boxcar::transforms
