#include <boxcar/backends/functors/pointwise_binary_activation.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/pointwise.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/ivalue/error.h>

#include <utility>

// Activations of two inputs: prelu, whose slopes are a tensor, and glu, whose gates are half of its input.

namespace boxcar::native {
namespace {

constexpr Pointwise kPrelu = makePointwise<Prelu, 2, Result::kSame>("prelu", kFloatingTypes);

constexpr Pointwise kGlu = makePointwise<Glu, 2, Result::kSame>("glu", kFloatingTypes);

Tensor prelu(const Tensor& self, const Tensor& weight) {
  BOXCAR_CHECK(self.scalar_type() == weight.scalar_type(), "prelu: Type promoting not supported. Got {} and {}",
               self.scalar_type(), weight.scalar_type());
  BOXCAR_CHECK(weight.dim() <= 1, "prelu: Expected `weight` to be a scalar or 1D tensor, but got ndim = {}",
               weight.dim());
  if (weight.numel() == 1) return pointwise(kPrelu, {self, weight.view({}, {}, weight.storage_offset())});
  BOXCAR_CHECK(self.dim() > 0, "prelu: Not allow zero-dim input tensor for {} weights.", weight.numel());
  const int64_t channels = self.dim() > 1 ? self.size(1) : 1;
  BOXCAR_CHECK(channels == weight.numel(),
               "prelu: Mismatch of parameter numbers and input channel size. Found parameter numbers = {} and channel "
               "size = {}.",
               weight.numel(), channels);
  // The weights are along the channel dimension.
  DimVector sizes(static_cast<size_t>(self.dim()), 1);
  DimVector strides(static_cast<size_t>(self.dim()), 1);
  if (self.dim() > 1) {
    sizes[1] = channels;
    strides[1] = weight.strides()[0];
  }
  return pointwise(kPrelu, {self, weight.view(sizes, strides, weight.storage_offset())});
}

// Returns the two halves of [self] along [dim]; the second half is the gates.
std::pair<Tensor, Tensor> halves(const Tensor& self, int64_t dim) {
  BOXCAR_CHECK(self.dim() > 0, "glu does not support 0-dimensional tensors");
  const size_t along = static_cast<size_t>(wrapDimension(dim, self.dim()));
  DimVector sizes = toDimVector(self.sizes());
  BOXCAR_CHECK(sizes[along] % 2 == 0, "Halving dimension must be even, but dimension {} is size {}", dim, sizes[along]);
  sizes[along] /= 2;
  const int64_t offset = self.storage_offset() + sizes[along] * self.strides()[along];
  return {self.view(sizes, self.strides(), self.storage_offset()),
          self.view(sizes, self.strides(), self.numel() == 0 ? self.storage_offset() : offset)};
}

Tensor glu(const Tensor& self, int64_t dim) {
  const auto [values, gates] = halves(self, dim);
  return pointwise(kGlu, {values, gates});
}

Tensor& gluOut(const Tensor& self, int64_t dim, Tensor& out) {
  const auto [values, gates] = halves(self, dim);
  return pointwiseOut(kGlu, out, {values, gates});
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, runPointwise) {
  m.impl("prelu", BOXCAR_FN(prelu));
  m.impl("glu", BOXCAR_FN(glu));
  m.impl("glu.out", BOXCAR_FN(gluOut));
}

}  // namespace boxcar::native
