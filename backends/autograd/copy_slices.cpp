#include <boxcar/backends/autograd/copy_slices.h>
#include <boxcar/backends/autograd/history.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ops.h>

#include <utility>

namespace boxcar::autograd {
namespace {

// Where a view lies in its base. One of the two may be complex and the other real.
struct Slice {
  Slice(const Tensor& base, const Tensor& view)
      : base_sizes(toDimVector(base.sizes())),
        base_strides(toDimVector(base.strides())),
        base_type(base.scalar_type()),
        base_offset(base.storage_offset()),
        sizes(toDimVector(view.sizes())),
        strides(toDimVector(view.strides())),
        offset(view.storage_offset()),
        type(view.scalar_type()),
        base_bits(base.key_set() & math_bits_ks),
        bits(view.key_set() & math_bits_ks) {}

  // A tensor with the layout of the base, for its gradient.
  Tensor allocateBase(const Tensor& like) const { return withMathBits(allocatePlainBase(like), base_bits); }
  Tensor allocatePlainBase(const Tensor& like) const {
    // A gradient inside func::vmap() may have a batch.
    if (like.key_set().has(DispatchKey::FuncTorchBatched)) {
      int64_t extent = 1;
      for (size_t i = 0; i < base_sizes.size(); ++i) extent += (base_sizes[i] - 1) * base_strides[i];
      const int64_t row[] = {numelOf(base_sizes) == 0 ? 0 : extent};
      return boxcar::as_strided(boxcar::new_zeros(like, row, base_type), base_sizes, base_strides, 0);
    }
    return boxcar::empty_strided(base_sizes, base_strides, base_type, std::nullopt, like.device());
  }
  // The part of [base] that is the view.
  Tensor of(const Tensor& base) const {
    return partLike(base, base_offset, sizes, strides, offset, isComplexType(type), bits);
  }

  DimVector base_sizes;
  DimVector base_strides;
  ScalarType base_type;
  int64_t base_offset;
  DimVector sizes;
  DimVector strides;
  int64_t offset;
  ScalarType type;
  DispatchKeySet base_bits;
  DispatchKeySet bits;
};

class AsStridedBackward final : public Node {
 public:
  AsStridedBackward(const Tensor& base, const Tensor& view) : slice_(base, view) {}

  std::string name() const override { return "AsStridedBackward0"; }
  Gradients apply(Gradients grad_outputs) override {
    Tensor base = slice_.allocateBase(grad_outputs[0]);
    boxcar::zero_(base);
    Tensor part = slice_.of(base);
    boxcar::copy_(part, grad_outputs[0]);
    Gradients gradients;
    gradients.push_back(std::move(base));
    return gradients;
  }

 private:
  Slice slice_;
};

class CopySlices final : public Node {
 public:
  CopySlices(const Tensor& base, const Tensor& view, IntrusivePtr<Node> written)
      : slice_(base, view), written_(std::move(written)) {}

  std::string name() const override { return "CopySlices"; }
  Gradients apply(Gradients grad_outputs) override {
    Tensor base = slice_.allocateBase(grad_outputs[0]);
    boxcar::copy_(base, grad_outputs[0]);
    Tensor part = slice_.of(base);
    Gradients of_part;
    of_part.push_back(boxcar::clone(part));
    Gradients gradients = written_->apply(std::move(of_part));
    if (gradients[0].defined()) {
      boxcar::copy_(part, gradients[0]);
    } else {
      boxcar::zero_(part);
    }
    gradients[0] = std::move(base);
    return gradients;
  }
  void freeSaved() noexcept override { written_->freeSaved(); }

 private:
  Slice slice_;
  IntrusivePtr<Node> written_;
};

}  // namespace

Tensor withMathBits(Tensor tensor, DispatchKeySet bits) {
  const DispatchKeySet other = (tensor.key_set() ^ bits) & math_bits_ks;
  if (other.has(DispatchKey::Conjugate)) tensor = boxcar::_conj(tensor);
  if (other.has(DispatchKey::Negative)) tensor = boxcar::_neg_view(tensor);
  return tensor;
}

Tensor partLike(const Tensor& base, int64_t base_offset, std::span<const int64_t> sizes,
                std::span<const int64_t> strides, int64_t offset, bool is_complex, DispatchKeySet bits) {
  const Tensor memory = withMathBits(base, {});
  const auto part = [&] {
    if (memory.is_complex() == is_complex) {
      return boxcar::as_strided(memory, sizes, strides, offset - base_offset + memory.storage_offset());
    }
    if (memory.is_complex()) {
      const Tensor real = boxcar::view_as_real(memory);
      return boxcar::as_strided(real, sizes, strides, offset - 2 * base_offset + real.storage_offset());
    }
    DimVector pair_sizes(sizes.begin(), sizes.end());
    pair_sizes.push_back(2);
    DimVector pair_strides;
    for (const int64_t stride : strides) pair_strides.push_back(2 * stride);
    pair_strides.push_back(1);
    return boxcar::view_as_complex(
        boxcar::as_strided(memory, pair_sizes, pair_strides, 2 * offset - base_offset + memory.storage_offset()));
  };
  return withMathBits(part(), bits);
}

IntrusivePtr<Node> makeAsStridedBackward(const Tensor& base, const Tensor& view) {
  auto node = makeIntrusive<AsStridedBackward>(base, view);
  node->addEdge(gradientEdge(base));
  return node;
}

IntrusivePtr<Node> makeCopySlices(const Tensor& base, const Tensor& view, const IntrusivePtr<Node>& written) {
  auto node = makeIntrusive<CopySlices>(base, view, written);
  node->addEdge(gradientEdge(base));
  for (size_t i = 1; i < written->edges().size(); ++i) node->addEdge(written->edges()[i]);
  return node;
}

}  // namespace boxcar::autograd
