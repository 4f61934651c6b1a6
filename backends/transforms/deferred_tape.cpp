#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/autograd/history.h>
#include <boxcar/backends/transforms/deferred_tape.h>
#include <boxcar/backends/transforms/fake_tensor.h>
#include <boxcar/dispatcher/call/grad_mode.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/values/value_copy.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ivalue/value_tensors.h>
#include <boxcar/ivalue/zero_tensor.h>
#include <boxcar/schema/function_schema.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>

namespace boxcar::transforms {
namespace {

constinit std::atomic<uint64_t> recorded_calls = 0;

constinit thread_local DeferredTape* current_tape = nullptr;

// A fake of the same memory and shape that knows nothing, so that the tape does not own itself.
Tensor placeholderOf(const Tensor& tensor) { return isFake(tensor) ? tensor.shallowCopy() : tensor; }

// A copy of a real tensor on the CPU.
Tensor copyOf(const Tensor& tensor) {
  ValueCopier copier;
  return copier.copy(tensor);
}

bool contains(const std::vector<const StorageImpl*>& storages, const StorageImpl* wanted) {
  return std::ranges::find(storages, wanted) != storages.end();
}

bool meets(const std::vector<const StorageImpl*>& storages, const std::unordered_set<const StorageImpl*>& wanted) {
  return std::ranges::any_of(storages, [&](const StorageImpl* storage) { return wanted.contains(storage); });
}

}  // namespace

DeferredTape::Guard::Guard(DeferredTape& tape) noexcept : before_(std::exchange(current_tape, &tape)) {}
DeferredTape::Guard::~Guard() { current_tape = before_; }
DeferredTape* DeferredTape::current() noexcept { return current_tape; }

IntrusivePtr<DeferredTape> DeferredTape::of(std::span<const PlacedTensor> tensors) {
  IntrusivePtr<DeferredTape> tape;
  if (current_tape != nullptr) tape = IntrusivePtr<DeferredTape>::share(current_tape);
  for (const PlacedTensor& placed : tensors) {
    if (!placed.tensor.key_set().has(DispatchKey::DeferredInit)) continue;
    const IntrusivePtr<DeferredTape> other = of(placed.tensor);
    if (!other) continue;
    if (tape) {
      tape->absorb(*other);
    } else {
      tape = other;
    }
  }
  return tape;
}

IntrusivePtr<DeferredTape> DeferredTape::of(const Tensor& tensor) {
  if (!tensor.defined() || !isFake(tensor)) return nullptr;
  const FakeMetadata* known = fakeMetadata(tensor);
  if (known == nullptr || !known->tape) {
    TensorImpl* const base = tensor.unsafeGetTensorImpl()->base();
    if (base == nullptr) return nullptr;
    known = dynamic_cast<FakeMetadata*>(base->metadata(TensorMetadata::Kind::kTransform));
    if (known == nullptr || !known->tape) return nullptr;
  }
  auto tape = IntrusivePtr<DeferredTape>::share(static_cast<DeferredTape*>(known->tape.get()));
  while (tape->merged_into_) tape = IntrusivePtr<DeferredTape>(tape->merged_into_);
  return tape;
}

void DeferredTape::attachTo(const Tensor& tensor) {
  TensorImpl* const impl = tensor.unsafeGetTensorImpl();
  impl->set_key_set(impl->key_set().add(DispatchKey::DeferredInit));
  ensureFakeMetadata(tensor).tape = IntrusivePtr<Object>::share(this);
}

void DeferredTape::absorb(DeferredTape& other) {
  if (&other == this) return;
  std::ranges::move(other.calls_, std::back_inserter(calls_));
  std::ranges::stable_sort(calls_, {}, &Call::number);
  real_.merge(other.real_);
  outside_.merge(other.outside_);
  other.calls_.clear();
  other.merged_into_ = IntrusivePtr<DeferredTape>::share(this);
}

std::vector<IValue> DeferredTape::placeholders(std::span<const IValue> arguments) {
  std::vector<IValue> found;
  for (const IValue& argument : arguments) found.push_back(mapTensors(argument, &placeholderOf));
  return found;
}

void DeferredTape::record(const OperatorHandle& op, std::span<const IValue> arguments,
                          std::span<const IValue> results) {
  Call call{recorded_calls.fetch_add(1, std::memory_order_relaxed), op, {}, {}, {}, {}, {}, {}};
  for (const PlacedTensor& placed : tensorsOfArguments(op.schema(), arguments)) {
    if (isFake(placed.tensor)) {
      call.reads.push_back(placed.tensor.storage().get());
      if (placed.isWritten()) call.writes.push_back(placed.tensor.storage().get());
    } else {
      call.outside.emplace_back(placed.tensor, placed.tensor.version());
    }
  }
  for (const IValue& result : results) {
    visitTensors(result, [&](const Tensor& tensor) {
      const StorageImpl* const storage = tensor.storage().get();
      if (isFake(tensor) && !contains(call.reads, storage)) call.makes.push_back(storage);
    });
  }
  // The shape of a fake view says which part of the memory it is.
  if (call.makes.empty() && call.writes.empty()) return;
  call.arguments.assign(arguments.begin(), arguments.end());
  call.results = placeholders(results);
  calls_.push_back(std::move(call));
}

// Walks from the last call to the first. A call is needed if it makes or writes memory that is needed, and also if it
// reads what a later call, which is needed, writes: it could not be made afterwards.
std::vector<DeferredTape::Call*> DeferredTape::callsFor(std::span<const Tensor> fakes) {
  Storages needed;
  Storages overwritten;
  for (const Tensor& fake : fakes) needed.insert(fake.storage().get());
  std::vector<Call*> found;
  for (size_t i = calls_.size(); i-- > 0;) {
    Call& call = calls_[i];
    if (call.is_done) continue;
    if (!meets(call.makes, needed) && !meets(call.writes, needed) && !meets(call.reads, overwritten)) continue;
    needed.insert(call.reads.begin(), call.reads.end());
    overwritten.insert(call.writes.begin(), call.writes.end());
    found.push_back(&call);
  }
  std::ranges::reverse(found);
  return found;
}

Tensor DeferredTape::realOf(const Tensor& fake) const {
  const auto known = real_.find(fake.storage().get());
  BOXCAR_CHECK(known != real_.end(),
               "materialize: a fake tensor of sizes [{}] was not made by deferred_init(), so nothing says what its "
               "elements are",
               fmt::join(fake.sizes(), ", "));
  Tensor real(makeIntrusive<TensorImpl>(known->second, fake.scalar_type(), fake.sizes(), fake.strides(),
                                        fake.storage_offset()));
  takeMathBits(real, fake);
  if (isZeroTensor(fake)) real.unsafeGetTensorImpl()->set_key_set(real.key_set().add(DispatchKey::ZeroTensor));
  real.unsafeGetTensorImpl()->set_wrapped_number(fake.unsafeGetTensorImpl()->is_wrapped_number());
  return real;
}

void DeferredTape::replay(Call& call) {
  for (const auto& [tensor, version] : call.outside) {
    BOXCAR_CHECK(tensor.version() == version,
                 "materialize: a real tensor of sizes [{}], which {} took inside deferred_init(), was written since; "
                 "give it a clone()",
                 fmt::join(tensor.sizes(), ", "), toString(call.op));
  }
  const auto real = [&](const Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    if (isFake(tensor)) return realOf(tensor);
    // The program's numbers may be wanted again.
    return call.op.operator_name().name == "aten::lift_fresh" ? copyOf(tensor) : tensor;
  };
  Stack stack;
  for (const IValue& argument : call.arguments) stack.push_back(mapTensors(argument, real));
  call.op.callBoxed(stack);
  std::vector<Tensor> made;
  for (const IValue& result : last(stack, stack.size())) {
    visitTensors(result, [&](const Tensor& tensor) { made.push_back(tensor); });
  }
  size_t next = 0;
  for (const IValue& result : call.results) {
    visitTensors(result, [&](const Tensor& fake) {
      const size_t i = next++;
      if (i < made.size() && isFake(fake)) real_.try_emplace(fake.storage().get(), made[i].storage());
    });
  }
  call.is_done = true;
}

std::vector<Tensor> DeferredTape::materialize(std::span<const Tensor> fakes) {
  // What these levels do was recorded.
  const ExcludeDispatchKeyGuard real_calls(
      autocast_dispatch_keyset |
      DispatchKeySet({DispatchKey::Fake, DispatchKey::DeferredInit, DispatchKey::FuncTorchVmapMode,
                      autograd::kForwardKey, DispatchKey::Functionalize}));
  const NoGradGuard no_grad;
  for (const Tensor& fake : fakes) {
    const bool has_derivative = (fake.requires_grad() && autograd::gradFn(fake) != nullptr) ||
                                (autograd::computesTangents() && autograd::hasTangent(fake));
    BOXCAR_CHECK(
        !has_derivative,
        "func::materialize: a tensor of sizes [{}] was computed from tensors that require grad, and derivatives do "
        "not go through deferred_init(); compute it under no_grad(), or detach() it",
        fmt::join(fake.sizes(), ", "));
  }
  for (Call* call : callsFor(fakes)) replay(*call);
  std::vector<Tensor> found;
  for (const Tensor& fake : fakes) {
    found.push_back(realOf(fake));
    if (fake.requires_grad()) found.back().set_requires_grad(true);
  }
  return found;
}

}  // namespace boxcar::transforms
