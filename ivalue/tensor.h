#pragma once

#include <boxcar/ivalue/tensor_impl.h>

#include <concepts>
#include <span>
#include <string>
#include <utility>

namespace boxcar {

// A reference to a tensor. Copies share one TensorImpl. It is never null: a default-constructed or moved-from Tensor is
// the undefined tensor, which has no dimensions, no dtype and no dispatch keys.
class BOXCAR_API Tensor final {
 public:
  Tensor() noexcept : impl_(TensorImpl::undefined()) { impl_->retain(); }
  // A null pointer gives the undefined tensor.
  explicit Tensor(IntrusivePtr<TensorImpl> impl) noexcept
      : impl_(impl ? impl.releasePointer() : TensorImpl::undefined()) {}
  Tensor(const Tensor& other) noexcept : impl_(other.impl_) { impl_->retain(); }
  // The undefined tensor is immortal, so a moved-from Tensor needs no counting.
  Tensor(Tensor&& other) noexcept : impl_(std::exchange(other.impl_, TensorImpl::undefined())) {}
  ~Tensor() { impl_->release(); }
  Tensor& operator=(const Tensor& other) noexcept {
    Tensor(other).swap(*this);
    return *this;
  }
  Tensor& operator=(Tensor&& other) noexcept {
    Tensor(std::move(other)).swap(*this);
    return *this;
  }
  void swap(Tensor& other) noexcept { std::swap(impl_, other.impl_); }

  // Returns a dense, contiguous tensor of [sizes] with uninitialised memory.
  static Tensor allocate(std::span<const int64_t> sizes, ScalarType dtype, Device device = Device(DeviceType::CPU));

  // Returns a tensor with another shape over the same storage. Sizes and strides are in elements; [offset] counts from
  // the storage's start. It does not require grad, has the other keys of this tensor, and keeps its base, from which
  // autograd takes a view's history: this tensor, or the one that this is a view of.
  Tensor view(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t offset) const;
  // Like view(); [write] fills an empty Dims& with the dimensions and returns the offset. Both throw Error if the
  // storage is too small, something is negative, or this is the undefined tensor.
  template <std::invocable<Dims&> Write>
  Tensor viewWith(const Write& write) const {
    return Tensor(makeIntrusive<TensorImpl>(*unsafeGetTensorImpl(), write));
  }

  // Returns a tensor of the same shape over the same storage that is no view of this one: it shares memory, and neither
  // history nor metadata, other than the elements of a tensor that is not strided. Throws Error if this is the
  // undefined tensor.
  Tensor shallowCopy() const;

  bool defined() const noexcept { return impl_->defined(); }
  bool is_same(const Tensor& other) const noexcept { return impl_ == other.impl_; }
  DispatchKeySet key_set() const noexcept { return impl_->key_set(); }
  TensorImpl* unsafeGetTensorImpl() const noexcept { return impl_; }

  int64_t dim() const noexcept { return impl_->dim(); }
  int64_t numel() const noexcept { return impl_->numel(); }
  std::span<const int64_t> sizes() const noexcept { return impl_->sizes(); }
  std::span<const int64_t> strides() const noexcept { return impl_->strides(); }
  // The size of dimension [dim]; a negative one counts from the end. Throws Error when there is no such dimension.
  int64_t size(int64_t dim) const;
  // Throws Error also when the tensor is not strided.
  int64_t stride(int64_t dim) const;
  int64_t storage_offset() const noexcept { return impl_->storage_offset(); }
  const Storage& storage() const noexcept { return impl_->storage(); }
  ScalarType scalar_type() const noexcept { return impl_->scalar_type(); }
  ScalarType dtype() const noexcept { return impl_->scalar_type(); }
  size_t itemsize() const noexcept { return elementSize(impl_->scalar_type()); }
  size_t nbytes() const noexcept { return static_cast<size_t>(numel()) * itemsize(); }
  Device device() const noexcept { return impl_->device(); }
  Layout layout() const noexcept { return impl_->layout(); }
  bool is_contiguous() const noexcept { return impl_->is_contiguous(); }
  bool is_mkldnn() const noexcept { return layout() == Layout::Mkldnn; }
  bool is_cpu() const noexcept { return impl_->device().type() == DeviceType::CPU; }
  bool is_cuda() const noexcept { return impl_->device().type() == DeviceType::CUDA; }
  bool is_meta() const noexcept { return impl_->device().type() == DeviceType::Meta; }
  bool is_floating_point() const noexcept { return isFloatingType(scalar_type()); }
  bool is_complex() const noexcept { return isComplexType(scalar_type()); }
  bool requires_grad() const noexcept { return impl_->requires_grad(); }
  const Tensor& set_requires_grad(bool requires_grad) const {
    impl_->set_requires_grad(requires_grad);
    return *this;
  }

  // The first element's address, untyped and unchecked.
  void* data_ptr() const noexcept { return impl_->data(); }
  // The first element's address as a T*; throws Error if the tensor has another dtype, is not strided, or is
  // not on the CPU.
  template <class T>
  T* data_ptr() const {
    checkAccess(scalarTypeOf<T>);
    return static_cast<T*>(impl_->data());
  }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }

  // Counts in-place writes to this tensor's storage.
  uint32_t version() const noexcept { return impl_->defined() ? storage()->version() : 0; }

 private:
  void checkAccess(ScalarType wanted) const;

  TensorImpl* impl_;
};

// What operators take for `Tensor[]`.
using TensorList = std::span<const Tensor>;

// Returns the dimension number in [0, rank) for one in [-rank, rank), where rank 0 counts as 1; otherwise throws
// PyTorch's IndexError.
BOXCAR_API int64_t wrapDimension(int64_t dim, int64_t rank);

// The text of PyTorch's repr().
BOXCAR_API std::string toString(const Tensor& tensor);

}  // namespace boxcar
