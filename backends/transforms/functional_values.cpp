#include <boxcar/backends/meta/spatial.h>
#include <boxcar/backends/transforms/functional_values.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <utility>

namespace boxcar::transforms {
namespace {

// A sweep takes time in proportion to all that is known, so it waits until that has doubled, or for many bytes.
constexpr size_t kFewKnown = 256;
constexpr size_t kManyBytes = size_t{16} << 20;

IntrusivePtr<TensorImpl> implOf(const Tensor& tensor) {
  return IntrusivePtr<TensorImpl>::share(tensor.unsafeGetTensorImpl());
}

// The tensor that [tensor] is a view of, if that shows the whole memory, or else [tensor].
Tensor wholeOf(const Tensor& tensor) {
  TensorImpl* const base = tensor.unsafeGetTensorImpl()->base();
  if (base == nullptr || base->storage() != tensor.storage()) return tensor;
  const Tensor given(IntrusivePtr<TensorImpl>::share(base));
  const Tensor whole = hasMathBits(given) ? withoutMathBits(given) : given;
  return Placement(whole).isWhole(*whole.storage()) ? whole : tensor;
}

Placement rowOfMemory(const Tensor& tensor) {
  Placement row(tensor);
  row.sizes = {static_cast<int64_t>(tensor.storage()->nbytes() / tensor.itemsize())};
  row.strides = {1};
  row.offset = 0;
  return row;
}

}  // namespace

// ---- Finding ----

const FunctionalValues::KnownTensor* FunctionalValues::find(const Tensor& tensor) const {
  const auto found = tensors_.find(tensor.unsafeGetTensorImpl());
  if (found == tensors_.end() || found->second.tensor.expired()) return nullptr;
  // Lazy conjugates that are outputs get other sizes without a call.
  return found->second.view->placement().isOf(tensor) ? &found->second : nullptr;
}

FunctionalValues::FunctionalBasePtr FunctionalValues::findBase(const Tensor& tensor) {
  const auto found = storages_.find(tensor.storage().get());
  if (found == storages_.end() || found->second.storage.expired()) return nullptr;
  FunctionalBasePtr base = found->second.base.lock();
  if (base != nullptr && base->version != tensor.version()) takeMemory(*base, tensor.storage());
  return base;
}

FunctionalValues::FunctionalBasePtr FunctionalValues::baseOf(const Tensor& tensor) {
  if (FunctionalBasePtr found = findBase(tensor)) return found;
  Tensor whole = tensor;
  Placement placement(tensor);
  if (tensor.layout() == Layout::Strided && (hasMathBits(tensor) || !placement.isWhole(*tensor.storage()))) {
    whole = wholeOf(tensor);
    if (whole.is_same(tensor)) {
      if (!placement.isWhole(*tensor.storage())) placement = rowOfMemory(tensor);
      // A base must not hold a tensor that is known: that would hold the base.
      if (hasMathBits(tensor)) {
        whole = withoutMathBits(tensor);
      } else if (isMade(tensor.storage())) {
        whole = tensor.shallowCopy();
      }
    } else {
      placement = Placement(whole);
    }
  }
  auto base = std::make_shared<FunctionalBase>(whole, std::move(placement));
  sweep();
  storages_.insert_or_assign(tensor.storage().get(), KnownStorage{WeakIntrusivePtr<StorageImpl>(tensor.storage()), base,
                                                                  WeakIntrusivePtr<TensorImpl>(implOf(whole))});
  return base;
}

FunctionalValues::FunctionalViewPtr FunctionalValues::viewOf(const Tensor& tensor, const FunctionalBasePtr& base) {
  if (const KnownTensor* known = find(tensor); known != nullptr && known->view->base() == base) return known->view;
  if (tensor.layout() != Layout::Strided || base->placement.isOf(tensor)) return nullptr;
  if (FunctionalViewPtr same = base->viewAt(tensor)) {
    remember(tensor, same, false);
    return same;
  }
  auto view = std::make_shared<FunctionalView>(base, nullptr, std::nullopt, Placement(tensor));
  // Its memory is no value any more once that was written.
  remember(tensor, view, !base->is_written);
  return view;
}

Tensor FunctionalValues::current(const Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  const Tensor memory = currentMemory(tensor);
  if (memory.is_same(tensor) || !hasMathBits(tensor)) return memory;
  const Tensor value = memory.shallowCopy();
  takeMathBits(value, tensor);
  return value;
}

Tensor FunctionalValues::currentMemory(const Tensor& tensor) {
  const FunctionalBasePtr base = findBase(tensor);
  if (base == nullptr) return tensor;
  if (!base->is_written) {
    const KnownTensor* const known = find(tensor);
    if (known != nullptr) {
      if (known->is_value) return tensor;
    } else if (base->viewAt(tensor) == nullptr) {
      // It shows all of the memory, is from outside of the scope, or is one of several results on the same memory.
      return tensor;
    }
  }
  const FunctionalViewPtr view = viewOf(tensor, base);
  return view == nullptr ? base->current(copies_) : view->current(copies_);
}

// ---- Writes ----

void FunctionalValues::remember(const Tensor& tensor, FunctionalViewPtr view, bool is_value) {
  sweep();
  WeakIntrusivePtr<TensorImpl> known(implOf(tensor));
  // A view's value has no lazy conjugates.
  if (is_value && !hasMathBits(tensor)) view->setMade(known);
  tensors_.insert_or_assign(tensor.unsafeGetTensorImpl(), KnownTensor{std::move(known), std::move(view), is_value});
}

void FunctionalValues::write(const Tensor& tensor, const Tensor& value) {
  const FunctionalBasePtr base = baseOf(tensor);
  if (const FunctionalViewPtr view = viewOf(tensor, base)) {
    view->write(value, copies_);
  } else {
    base->set(value);
  }
  new_bytes_ += base->value.nbytes();
  if (base->is_written) return;
  base->is_written = true;
  KnownStorage& known = storages_.at(tensor.storage().get());
  known.kept = base;
  known.order = writes_++;
}

void FunctionalValues::noteWritten(const Tensor& tensor) {
  const auto found = storages_.find(tensor.storage().get());
  if (found == storages_.end()) return;
  if (const FunctionalBasePtr base = found->second.base.lock()) base->version = tensor.version();
}

void FunctionalValues::takeMemory(FunctionalBase& base, const Storage& storage) {
  base.version = storage->version();
  ++base.generation;
  if (!base.value.defined() || base.value.storage() == storage || base.value.layout() != Layout::Strided) return;
  const Placement& where = base.placement;
  base.value = Tensor(makeIntrusive<TensorImpl>(storage, where.dtype, where.sizes, where.strides, where.offset));
}

void FunctionalValues::takeMemory(const Tensor& tensor) {
  const FunctionalBasePtr base = findBase(tensor);
  if (base != nullptr) takeMemory(*base, tensor.storage());
}

void FunctionalValues::replace(const Tensor& tensor, const Tensor& value, const OperatorHandle& op) {
  const FunctionalBasePtr before = findBase(tensor);
  // The table keeps one reference if the memory was written, and this function another.
  BOXCAR_CHECK(
      before == nullptr || before.use_count() <= (before->is_written ? 2 : 1) || numelOf(before->placement.sizes) == 0,
      "{} inside functionalize() cannot resize a tensor that has views: give it a new tensor, or one of the "
      "sizes of the result, {}",
      op.operator_name(), meta::listOf(value.sizes()));
  tensors_.erase(tensor.unsafeGetTensorImpl());
  storages_.erase(tensor.storage().get());
  write(tensor, value);
  storages_.at(tensor.storage().get()).is_resized = true;
  noteWritten(tensor);
}

// ---- Views ----

void FunctionalValues::noteView(const Tensor& result, const Tensor& viewed, std::optional<ViewStep> step,
                                bool is_value) {
  if (result.layout() != Layout::Strided || result.is_same(viewed)) return;
  const FunctionalBasePtr base = baseOf(viewed);
  if ((result.key_set() ^ viewed.key_set()).has_any(math_bits_ks)) {
    // Of the same elements of memory, it is the same view.
    if (Placement(result) == Placement(viewed)) {
      FunctionalViewPtr same = viewOf(viewed, base);
      if (same == nullptr) same = std::make_shared<FunctionalView>(base, nullptr, std::nullopt, Placement(result));
      return remember(result, std::move(same), is_value);
    }
    step = std::nullopt;
  }
  // The arguments of as_strided() are about the whole memory.
  if (step && step->op.operator_name().name == "aten::as_strided") step = std::nullopt;
  FunctionalViewPtr parent = step ? viewOf(viewed, base) : nullptr;
  remember(result, std::make_shared<FunctionalView>(base, std::move(parent), std::move(step), Placement(result)),
           is_value);
}

FunctionalValues::FunctionalBasePtr FunctionalValues::beginReshape(const Tensor& tensor) {
  FunctionalBasePtr base = baseOf(tensor);
  // Calls below know the tensor itself by its present shape.
  const Tensor& value = base->current(copies_);
  if (!value.is_same(tensor)) return base;
  if (copies_) {
    base->set(boxcar::alias_copy(value));
  } else {
    base->value = boxcar::alias(value);
  }
  return base;
}

void FunctionalValues::endReshape(const Tensor& tensor, const FunctionalBasePtr& base, const FunctionalViewPtr& before,
                                  std::optional<ViewStep> step) {
  base->version = tensor.version();
  if (before) before->setMade({});
  if (step && step->op.operator_name().name == "aten::as_strided") step = std::nullopt;
  FunctionalViewPtr parent = step ? before : nullptr;
  remember(tensor, std::make_shared<FunctionalView>(base, std::move(parent), std::move(step), Placement(tensor)),
           false);
}

// ---- The end ----

std::vector<FunctionalValues::Written> FunctionalValues::written() {
  std::vector<std::pair<size_t, Written>> found;
  for (auto& [address, known] : storages_) {
    const Storage storage = known.storage.lock();
    if (!storage || known.kept == nullptr || known.kept->version != storage->version()) continue;
    const Placement& where = known.kept->placement;
    Tensor value = known.kept->current(copies_);
    Tensor tensor(known.whole.lock());
    if (!tensor.defined() || (value.layout() == Layout::Strided && Placement(tensor) != where)) {
      if (value.layout() != Layout::Strided) continue;
      tensor = Tensor(makeIntrusive<TensorImpl>(storage, where.dtype, where.sizes, where.strides, where.offset));
    }
    found.emplace_back(known.order, Written{std::move(tensor), std::move(value), known.is_resized});
  }
  std::ranges::sort(found, {}, [](const auto& one) { return one.first; });
  std::vector<Written> all;
  for (auto& [order, one] : found) all.push_back(std::move(one));
  return all;
}

void FunctionalValues::sweep() {
  if (tensors_.size() + storages_.size() < 2 * kept_count_ + kFewKnown && new_bytes_ < kManyBytes) return;
  std::erase_if(tensors_, [](const auto& entry) { return entry.second.tensor.expired(); });
  std::erase_if(storages_, [](const auto& entry) {
    return entry.second.storage.expired() || (entry.second.kept == nullptr && entry.second.base.expired());
  });
  kept_count_ = tensors_.size() + storages_.size();
  new_bytes_ = 0;
}

}  // namespace boxcar::transforms
