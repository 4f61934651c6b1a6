#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/dims.h>
#include <boxcar/ivalue/dispatch_key_set.h>
#include <boxcar/ivalue/intrusive_ptr.h>
#include <boxcar/ivalue/layout.h>
#include <boxcar/ivalue/scalar_type.h>
#include <boxcar/ivalue/storage.h>
#include <boxcar/ivalue/tensor_metadata.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace boxcar {

// What a Tensor points to: a shape over a storage. The key set comes first after the object's header, because every
// operator call reads it.
class BOXCAR_API TensorImpl final : public Object {
 public:
  // A dense tensor over [storage]. [sizes] and [strides] have one entry per dimension, in elements; [offset] is the
  // first element's index in the storage. Its keys are its backend's, Dense and ADInplaceOrView. Throws Error if it
  // reaches beyond the storage.
  TensorImpl(Storage storage, ScalarType dtype, std::span<const int64_t> sizes, std::span<const int64_t> strides,
             int64_t offset);
  // A view of [base], with its dtype and its keys. It does not require grad by itself; the autograd key stays, so that
  // writes to a view that was made under NoGradGuard are seen.
  TensorImpl(const TensorImpl& base, std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t offset);
  // The same with elements of [dtype].
  TensorImpl(const TensorImpl& base, ScalarType dtype, std::span<const int64_t> sizes, std::span<const int64_t> strides,
             int64_t offset);
  // Like the constructors above; [write] fills a Dims& with the dimensions and returns the offset.
  template <std::invocable<Dims&> Write>
  TensorImpl(const TensorImpl& base, const Write& write) : TensorImpl(base, Unshaped::kDims) {
    measureDims(write(dims_));
  }
  // A contiguous tensor at the start of [storage], which must have room for its [numel] elements: this is not checked.
  TensorImpl(Storage storage, ScalarType dtype, std::span<const int64_t> sizes, int64_t numel);

  DispatchKeySet key_set() const noexcept { return key_set_; }
  void set_key_set(DispatchKeySet keys) noexcept { key_set_ = keys; }

  bool defined() const noexcept { return storage_.get() != nullptr; }
  int64_t dim() const noexcept { return dims_.rank(); }
  int64_t numel() const noexcept { return numel_; }
  std::span<const int64_t> sizes() const noexcept { return dims_.sizes(); }
  std::span<const int64_t> strides() const noexcept { return dims_.strides(); }
  int64_t storage_offset() const noexcept { return offset_; }
  const Storage& storage() const noexcept { return storage_; }
  ScalarType scalar_type() const noexcept { return dtype_; }
  Device device() const noexcept { return device_; }
  // Mkldnn if the elements are where only oneDNN's kernels read them, in metadata (kOpaque). Such a tensor's storage is
  // empty and only counts writes, and its strides say nothing.
  Layout layout() const noexcept { return key_set_.has_any(mkldnn_ks) ? Layout::Mkldnn : Layout::Strided; }
  // Whether the elements lie one after another in the order of the dimensions.
  bool is_contiguous() const noexcept { return contiguous_; }

  // The first element's address; null on the meta device, in an empty tensor without memory, and if not strided.
  void* data() const noexcept {
    auto* bytes = static_cast<std::byte*>(storage_ ? storage_->data() : nullptr);
    return bytes == nullptr ? nullptr : bytes + offset_ * static_cast<int64_t>(elementSize(dtype_));
  }

  // Gives the tensor another shape over the same storage, which must be large enough. Called by kernels of out=
  // operators and of in-place shape operators.
  void setShape(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t offset);
  // Gives the tensor other memory, of the same device, and a shape over it. Called by aten::set_.
  void setStorage(Storage storage, std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t offset);

  bool requires_grad() const noexcept { return requires_grad_; }
  // Also adds or removes the backend's autograd key: a tensor that needs no gradient, and is no view of one that does,
  // skips that kernel.
  void set_requires_grad(bool requires_grad);

  // Whether this tensor stands for a number: it does not raise the dtype of a result within its kind.
  bool is_wrapped_number() const noexcept { return is_wrapped_number_; }
  void set_wrapped_number(bool is_wrapped) noexcept { is_wrapped_number_ = is_wrapped; }

  // The tensor that this is a view of, directly or through other views; null if this was not made as a view.
  TensorImpl* base() const noexcept {
    if (attached_is_base_) return static_cast<TensorImpl*>(attached_.get());
    return attached_ ? baseInMetadata() : nullptr;
  }
  // Makes this a tensor of its own over the same storage. Called by aten::detach, and by autograd for results that
  // their schema does not call views.
  void clear_base() noexcept;

  // What a functionality attached to this tensor; null if there is none of this kind.
  TensorMetadata* metadata(TensorMetadata::Kind kind) const noexcept {
    if (!attached_ || attached_is_base_) return nullptr;
    TensorMetadata* found = firstMetadata();
    while (found != nullptr && found->kind() != kind) found = found->next_.get();
    return found;
  }
  // Attaches [metadata], which no other tensor has, in place of what there was of its kind.
  void set_metadata(IntrusivePtr<TensorMetadata> metadata);
  void remove_metadata(TensorMetadata::Kind kind) noexcept;
  // Gives this tensor a copy of all metadata of [other] that copies have.
  void copy_metadata(const TensorImpl& other);

  // Returns the undefined tensor: one immortal object with an empty key set.
  static TensorImpl* undefined() noexcept;

  static void* operator new(size_t bytes);
  static void operator delete(void* memory, size_t bytes) noexcept;

 private:
  struct Measured {
    int64_t numel;
    bool contiguous;
  };

  constexpr TensorImpl() noexcept : Object(Immortal()), dims_(Dims::Empty()) {}
  // What a view takes over from [base]: everything but the shape.
  enum class Unshaped { kDims };
  TensorImpl(const TensorImpl& base, Unshaped) noexcept
      : key_set_(base.key_set_),
        storage_(base.storage_),
        attached_(IntrusivePtr<Object>::share(base.attached_ ? base.baseOfViews() : const_cast<TensorImpl*>(&base))),
        dtype_(base.dtype_),
        device_(base.device_),
        attached_is_base_(true) {}
  TensorMetadata* firstMetadata() const noexcept { return static_cast<TensorMetadata*>(attached_.get()); }
  TensorImpl* baseInMetadata() const noexcept;
  TensorImpl* baseOfViews() const noexcept;
  void dispose() noexcept override;
  // Computes what follows from the dimensions. Throws Error where the storage is too small or there is none.
  Measured measure(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t offset) const;
  // Does what setShape does, for dimensions that are already in dims_.
  void measureDims(int64_t offset);
  // The general case of measureDims(): huge numbers, or an error.
  void measureAnyDims(int64_t offset);
  // Throws the Error of an impossible shape; returns if it finds nothing wrong.
  void checkShape(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t offset) const;

  // Initialised before any code runs, never destroyed.
  union Undefined;
  static Undefined kUndefined;

  DispatchKeySet key_set_;
  Storage storage_;
  int64_t offset_ = 0;
  int64_t numel_ = 0;
  // A view's base, or the first metadata. Few tensors have either, and fewer both: a view's base is then metadata.
  IntrusivePtr<Object> attached_;
  ScalarType dtype_ = ScalarType::Undefined;
  Device device_{DeviceType::CPU};
  bool contiguous_ = true;
  bool requires_grad_ = false;
  bool is_wrapped_number_ = false;
  bool attached_is_base_ = false;
  Dims dims_;
};

union TensorImpl::Undefined {
  TensorImpl impl;
  constexpr Undefined() noexcept : impl() {}
  ~Undefined() {}
};

inline TensorImpl* TensorImpl::undefined() noexcept { return &kUndefined.impl; }

namespace detail {

// Sets what is called before a tensor without metadata of autograd requires grad: autograd registers its kernels then,
// and makes the metadata, since passes on several threads may be the first to look for it.
BOXCAR_API void setRequiresGradHook(void (*hook)(TensorImpl& tensor)) noexcept;

}  // namespace detail

// Writes the strides of a contiguous tensor of [sizes] to [strides], which has the same length.
BOXCAR_API void contiguousStrides(std::span<const int64_t> sizes, std::span<int64_t> strides) noexcept;

// Returns the number of elements of a tensor of [sizes]; throws Error when one is negative or the product does not fit
// 63 bits.
BOXCAR_API int64_t numelOf(std::span<const int64_t> sizes);

}  // namespace boxcar
