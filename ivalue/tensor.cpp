#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/no_elements_error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ivalue/tensor.h>
#include <fmt/format.h>

namespace boxcar {
namespace {

// The keys of tensors whose storage does not have their elements.
constexpr DispatchKeySet kWithoutElements =
    (mkldnn_ks | functorch_batched_ks | math_bits_ks) | DispatchKeySet({DispatchKey::Fake, DispatchKey::ZeroTensor});

[[noreturn, gnu::cold, gnu::noinline]] void failWithoutElements(const Tensor& tensor) {
  BOXCAR_CHECK(tensor.layout() == Layout::Strided,
               "the elements of a tensor of layout torch.{} have no address of their own; read those of x.to_dense()",
               layoutName(tensor.layout()));
  BOXCAR_CHECK(
      !tensor.key_set().has_any(functorch_batched_ks),
      "the elements of a tensor inside func::vmap() cannot be read one by one: it stands for several slices. Use "
      "operators, or read what the function returns");
  BOXCAR_CHECK(!tensor.key_set().has(DispatchKey::ZeroTensor),
               "a zero tensor of sizes [{}] has no memory to read; read that of x.clone()",
               fmt::join(tensor.sizes(), ", "));
  BOXCAR_CHECK(!hasMathBits(tensor),
               "the memory of a tensor that is conjugated or negated lazily does not hold its elements; read those of "
               "resolved(x), or of x.resolve_conj().resolve_neg()");
  throw NoElementsError(fmt::format(
      "a fake tensor has no elements to read: it has only sizes [{}], a dtype and the device '{}'; make it outside of "
      "fake(), or materialize() it, to have them",
      fmt::join(tensor.sizes(), ", "), tensor.device()));
}

}  // namespace

Tensor Tensor::allocate(std::span<const int64_t> sizes, ScalarType dtype, Device device) {
  const auto itemsize = static_cast<int64_t>(elementSize(dtype));
  BOXCAR_CHECK(itemsize != 0 && dtype != ScalarType::ComplexHalf, "a tensor cannot have the dtype {}",
               dtypeName(dtype));
  const int64_t numel = numelOf(sizes);
  int64_t bytes = 0;
  BOXCAR_CHECK(!__builtin_mul_overflow(numel, itemsize, &bytes),
               "a tensor of sizes [{}] and dtype {} has more bytes than 63 bits can count", fmt::join(sizes, ", "),
               dtypeName(dtype));
  return Tensor(
      makeIntrusive<TensorImpl>(StorageImpl::allocate(static_cast<size_t>(bytes), device), dtype, sizes, numel));
}

Tensor Tensor::view(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t offset) const {
  return Tensor(makeIntrusive<TensorImpl>(*unsafeGetTensorImpl(), sizes, strides, offset));
}

Tensor Tensor::shallowCopy() const {
  if (layout() != Layout::Strided) {
    const TensorMetadata* const elements = impl_->metadata(TensorMetadata::Kind::kOpaque);
    BOXCAR_CHECK(elements != nullptr,
                 "a view of a tensor of layout torch.{} cannot be shared; take views of x.to_dense()",
                 layoutName(layout()));
    Tensor copy(makeIntrusive<TensorImpl>(storage(), scalar_type(), sizes(), numel()));
    copy.impl_->set_key_set(key_set() - autograd_dispatch_keyset);
    copy.impl_->set_metadata(elements->copy());
    return copy;
  }
  Tensor copy = view(sizes(), strides(), storage_offset());
  copy.impl_->clear_base();
  return copy;
}

int64_t Tensor::size(int64_t dim) const {
  BOXCAR_CHECK_INDEX(this->dim() > 0, "Dimension specified as {} but tensor has no dimensions", dim);
  return sizes()[static_cast<size_t>(wrapDimension(dim, this->dim()))];
}

int64_t Tensor::stride(int64_t dim) const {
  BOXCAR_CHECK(layout() == Layout::Strided,
               "a tensor of layout torch.{} has no strides; x.to_dense() returns a strided tensor",
               layoutName(layout()));
  BOXCAR_CHECK_INDEX(this->dim() > 0, "Dimension specified as {} but tensor has no dimensions", dim);
  return strides()[static_cast<size_t>(wrapDimension(dim, this->dim()))];
}

void Tensor::checkAccess(ScalarType wanted) const {
  BOXCAR_CHECK(wanted == scalar_type(), "expected a tensor of dtype {}, found one of dtype {}", dtypeName(wanted),
               dtypeName(scalar_type()));
  if (key_set().has_any(kWithoutElements)) [[unlikely]]
    failWithoutElements(*this);
  BOXCAR_CHECK(is_cpu(), "the elements of a tensor on device '{}' cannot be read by the CPU; copy it with .cpu() first",
               device());
}

int64_t wrapDimension(int64_t dim, int64_t rank) {
  const int64_t count = rank == 0 ? 1 : rank;
  BOXCAR_CHECK_INDEX(dim >= -count && dim < count,
                     "Dimension out of range (expected to be in range of [{}, {}], but got {})", -count, count - 1,
                     dim);
  return dim < 0 ? dim + count : dim;
}

}  // namespace boxcar
