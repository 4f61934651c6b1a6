#include <boxcar/ivalue/cached_memory.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/tensor_impl.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>

namespace boxcar {
namespace {

DispatchKeySet denseKeys(Device device) {
  constexpr DispatchKeySet kOfCpu{DispatchKey::CPU, DispatchKey::ADInplaceOrView};
  if (device.type() == DeviceType::CPU) [[likely]]
    return kOfCpu;
  return DispatchKeySet(toBackendComponent(device.type())) |
         DispatchKeySet({DispatchKey::Dense, DispatchKey::ADInplaceOrView});
}

// Returns the bytes of storage that a shape needs; 0 if it has no element.
size_t bytesReached(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t offset, size_t itemsize) {
  int64_t last = offset;
  bool overflow = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    int64_t step = 0;
    overflow |= __builtin_mul_overflow(sizes[i] - 1, strides[i], &step) || __builtin_add_overflow(last, step, &last);
  }
  int64_t bytes = 0;
  overflow |= __builtin_add_overflow(last, int64_t{1}, &last) ||
              __builtin_mul_overflow(last, static_cast<int64_t>(itemsize), &bytes);
  BOXCAR_CHECK(!overflow, "a tensor of sizes [{}] and strides [{}] reaches further than 63 bits can count",
               fmt::join(sizes, ", "), fmt::join(strides, ", "));
  return static_cast<size_t>(bytes);
}

// The base of a view that has metadata.
struct BaseOfView final : TensorMetadata {
  explicit BaseOfView(IntrusivePtr<TensorImpl> kept) noexcept : TensorMetadata(Kind::kBase), base(std::move(kept)) {}
  IntrusivePtr<TensorImpl> base;
};

}  // namespace

static constinit std::atomic<void (*)(TensorImpl&)> requires_grad_hook{nullptr};
static constinit std::atomic<bool> requires_grad_hook_ran{false};

void detail::setRequiresGradHook(void (*hook)(TensorImpl&)) noexcept { requires_grad_hook.store(hook); }

constinit TensorImpl::Undefined TensorImpl::kUndefined;

TensorImpl::TensorImpl(Storage storage, ScalarType dtype, std::span<const int64_t> sizes,
                       std::span<const int64_t> strides, int64_t offset)
    : key_set_(denseKeys(storage->device())), storage_(std::move(storage)), dtype_(dtype), device_(storage_->device()) {
  setShape(sizes, strides, offset);
}

TensorImpl::TensorImpl(const TensorImpl& base, std::span<const int64_t> sizes, std::span<const int64_t> strides,
                       int64_t offset)
    : TensorImpl(base, Unshaped::kDims) {
  setShape(sizes, strides, offset);
}

TensorImpl::TensorImpl(const TensorImpl& base, ScalarType dtype, std::span<const int64_t> sizes,
                       std::span<const int64_t> strides, int64_t offset)
    : TensorImpl(base, Unshaped::kDims) {
  dtype_ = dtype;
  setShape(sizes, strides, offset);
}

TensorImpl::TensorImpl(Storage storage, ScalarType dtype, std::span<const int64_t> sizes, int64_t numel)
    : key_set_(denseKeys(storage->device())),
      storage_(std::move(storage)),
      numel_(numel),
      dtype_(dtype),
      device_(storage_->device()) {
  contiguousStrides(sizes, dims_.assignSizes(sizes));
}

// One walk over the dimensions computes everything; only if something is wrong, a second walk finds out what.
[[gnu::always_inline]] inline TensorImpl::Measured TensorImpl::measure(std::span<const int64_t> sizes,
                                                                       std::span<const int64_t> strides,
                                                                       int64_t offset) const {
  BOXCAR_CHECK(defined(), "the undefined tensor has no views");
  int64_t numel = 1;
  int64_t last = offset;
  bool contiguous = true;
  bool suspect = offset < 0 || sizes.size() != strides.size();
  for (size_t i = suspect ? 0 : sizes.size(); i-- > 0;) {
    const int64_t size = sizes[i];
    const int64_t stride = strides[i];
    int64_t reach = 0;
    contiguous &= size == 1 || stride == numel;
    suspect |= (size | stride) < 0;
    suspect |= __builtin_mul_overflow(static_cast<int64_t>(static_cast<uint64_t>(size) - 1), stride, &reach);
    suspect |= __builtin_add_overflow(last, reach, &last);
    suspect |= __builtin_mul_overflow(numel, size, &numel);
  }
  const auto itemsize = static_cast<int64_t>(elementSize(dtype_));
  int64_t bytes = 0;
  suspect |= __builtin_mul_overflow(last, itemsize, &bytes);
  const auto most = static_cast<int64_t>(std::min<size_t>(storage_->nbytes(), std::numeric_limits<int64_t>::max()));
  suspect |= bytes > most - itemsize && numel != 0;
  if (suspect) [[unlikely]] {
    checkShape(sizes, strides, offset);
    numel = numelOf(sizes);  // the number of elements may have overflowed if there are none
  }
  return {numel, numel == 0 || contiguous};
}

void TensorImpl::setShape(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t offset) {
  const Measured measured = measure(sizes, strides, offset);
  dims_.assign(sizes, strides);
  offset_ = offset;
  numel_ = measured.numel;
  contiguous_ = measured.contiguous;
}

void TensorImpl::setStorage(Storage storage, std::span<const int64_t> sizes, std::span<const int64_t> strides,
                            int64_t offset) {
  std::swap(storage_, storage);
  try {
    setShape(sizes, strides, offset);
  } catch (...) {
    std::swap(storage_, storage);
    throw;
  }
}

// Used by select, slice and transpose, and so shorter than the code for arbitrary dimensions.
void TensorImpl::measureDims(int64_t offset) {
  const size_t rank = dims_.sizes().size();
  if (!storage_ || rank > Dims::kInline) [[unlikely]]
    return measureAnyDims(offset);
  const int64_t* const sizes = dims_.sizes().data();
  const int64_t* const strides = dims_.strides().data();
  uint64_t numel = 1;
  auto last = static_cast<uint64_t>(offset);
  uint64_t bits = last;  // the union of all numbers' bits
  uint64_t gaps = 0;
  for (size_t i = rank; i-- > 0;) {
    const auto size = static_cast<uint64_t>(sizes[i]);
    const auto stride = static_cast<uint64_t>(strides[i]);
    gaps |= (size - 1) * (stride - numel);
    last += (size - 1) * stride;
    numel *= size;
    bits |= size | stride | numel;
  }
  // If all numbers are below 2^30, none was negative, and with at most five dimensions nothing has overflowed. The last
  // element is then below 2^60, unless there is none, because the sizes less 1 add up to less than their product.
  const uint64_t bytes = (last + 1) * elementSize(dtype_);
  if ((bits >> 30) != 0 || (bytes > storage_->nbytes() && numel != 0)) [[unlikely]]
    return measureAnyDims(offset);
  offset_ = offset;
  numel_ = static_cast<int64_t>(numel);
  contiguous_ = gaps == 0 || numel == 0;
}

void TensorImpl::measureAnyDims(int64_t offset) {
  const Measured measured = measure(dims_.sizes(), dims_.strides(), offset);
  offset_ = offset;
  numel_ = measured.numel;
  contiguous_ = measured.contiguous;
}

void TensorImpl::checkShape(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t offset) const {
  BOXCAR_CHECK(layout() == Layout::Strided,
               "a tensor of layout torch.{} has no storage of strided elements, so it has no views and cannot take "
               "another shape in place; x.to_dense() returns a strided tensor",
               layoutName(layout()));
  BOXCAR_CHECK(sizes.size() == strides.size(), "a tensor of {} dimensions cannot have {} strides", sizes.size(),
               strides.size());
  numelOf(sizes);
  BOXCAR_CHECK(offset >= 0 && std::ranges::none_of(strides, [](int64_t stride) { return stride < 0; }),
               "a tensor cannot have a negative offset or stride: offset {}, strides [{}]", offset,
               fmt::join(strides, ", "));
  const size_t reached = bytesReached(sizes, strides, offset, elementSize(dtype_));
  BOXCAR_CHECK(
      reached <= storage_->nbytes(),
      "a tensor of sizes [{}], strides [{}] and storage offset {} needs {} bytes of storage, but its storage has "
      "{}",
      fmt::join(sizes, ", "), fmt::join(strides, ", "), offset, reached, storage_->nbytes());
}

void TensorImpl::set_requires_grad(bool requires_grad) {
  BOXCAR_CHECK(!requires_grad || isFloatingType(dtype_) || isComplexType(dtype_),
               "only tensors of floating point and complex dtype can require gradients, not {}", dtypeName(dtype_));
  // What a wrapper stands for has the history. The first call is made in any case: it registers kernels.
  const bool is_known =
      metadata(TensorMetadata::Kind::kAutograd) != nullptr || metadata(TensorMetadata::Kind::kTransform) != nullptr;
  if (requires_grad && (!is_known || !requires_grad_hook_ran.load(std::memory_order_relaxed))) {
    if (auto* const hook = requires_grad_hook.load(std::memory_order_relaxed)) {
      hook(*this);
      requires_grad_hook_ran.store(true, std::memory_order_relaxed);
    }
  }
  requires_grad_ = requires_grad;
  // Keys without a backend have no autograd key of their own.
  const DispatchKeySet autograd(layout() == Layout::Strided ? DispatchKey::AutogradFunctionality
                                                            : DispatchKey::AutogradOther);
  key_set_ = requires_grad ? key_set_ | autograd : key_set_ - autograd;
}

TensorImpl* TensorImpl::baseInMetadata() const noexcept {
  const auto* const kept = static_cast<const BaseOfView*>(metadata(TensorMetadata::Kind::kBase));
  return kept == nullptr ? nullptr : kept->base.get();
}

TensorImpl* TensorImpl::baseOfViews() const noexcept {
  TensorImpl* const found = base();
  return found == nullptr ? const_cast<TensorImpl*>(this) : found;
}

void TensorImpl::clear_base() noexcept {
  if (!requires_grad_) key_set_ = key_set_ - autograd_dispatch_keyset;
  if (!attached_is_base_) return remove_metadata(TensorMetadata::Kind::kBase);
  attached_is_base_ = false;
  attached_.reset();
}

void TensorImpl::set_metadata(IntrusivePtr<TensorMetadata> metadata) {
  if (attached_is_base_) {
    auto kept = makeIntrusive<BaseOfView>(IntrusivePtr<TensorImpl>::share(base()));
    attached_is_base_ = false;
    attached_ = std::move(kept);
  }
  remove_metadata(metadata->kind());
  metadata->next_ = IntrusivePtr<TensorMetadata>::adopt(static_cast<TensorMetadata*>(attached_.releasePointer()));
  attached_ = std::move(metadata);
}

void TensorImpl::remove_metadata(TensorMetadata::Kind kind) noexcept {
  if (attached_is_base_ || !attached_) return;
  if (firstMetadata()->kind() == kind) {
    attached_ = IntrusivePtr<TensorMetadata>(firstMetadata()->next_);
    return;
  }
  IntrusivePtr<TensorMetadata>* link = &firstMetadata()->next_;
  while (*link && (*link)->kind() != kind) link = &(*link)->next_;
  if (*link) *link = IntrusivePtr<TensorMetadata>((*link)->next_);
}

void TensorImpl::copy_metadata(const TensorImpl& other) {
  if (other.attached_is_base_) return;
  for (const TensorMetadata* each = other.firstMetadata(); each != nullptr; each = each->next_.get()) {
    if (IntrusivePtr<TensorMetadata> copy = each->copy()) set_metadata(std::move(copy));
  }
}

void TensorImpl::dispose() noexcept {
  if (mayDie()) delete this;
}

void* TensorImpl::operator new(size_t bytes) { return allocateCached(bytes); }
void TensorImpl::operator delete(void* memory, size_t bytes) noexcept { freeCached(memory, bytes); }

void contiguousStrides(std::span<const int64_t> sizes, std::span<int64_t> strides) noexcept {
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    // Without elements, the product of the other dimensions may be anything; the strides are never followed.
    if (__builtin_mul_overflow(stride, std::max<int64_t>(sizes[i], 1), &stride)) {
      stride = std::numeric_limits<int64_t>::max();
    }
  }
}

int64_t numelOf(std::span<const int64_t> sizes) {
  int64_t count = 1;
  bool suspect = false;
  for (const int64_t size : sizes) suspect |= size < 0 || __builtin_mul_overflow(count, size, &count);
  if (!suspect) [[likely]]
    return count;
  count = 1;
  bool overflow = false;
  bool empty = false;
  for (const int64_t size : sizes) {
    BOXCAR_CHECK(size >= 0, "a tensor cannot have a negative dimension: sizes [{}]", fmt::join(sizes, ", "));
    empty |= size == 0;
    overflow |= __builtin_mul_overflow(count, size, &count);
  }
  if (empty) return 0;
  BOXCAR_CHECK(!overflow, "a tensor of sizes [{}] has more elements than 63 bits can count", fmt::join(sizes, ", "));
  return count;
}

}  // namespace boxcar
