#include <boxcar/backends/meta/reduction.h>
#include <boxcar/backends/meta/sorting.h>
#include <boxcar/backends/meta/views.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/indexed_loop.h>
#include <boxcar/backends/native/median.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>

#include <limits>
#include <string_view>
#include <tuple>

namespace boxcar::native {

constinit DeviceStub<MedianLines> medianLines("median");

namespace {

// Returns [tensor] as [sizes], to remove a dimension of size 1.
Tensor seenAs(const Tensor& tensor, const DimVector& sizes) {
  DimVector strides(sizes.size(), boost::container::default_init);
  contiguousStrides(sizes, strides);
  return tensor.view(sizes, strides, 0);
}

template <bool skips_nan>
struct Median {
  static constexpr std::string_view kName = skips_nan ? "nanmedian" : "median";

  static std::tuple<Tensor, Tensor> overDim(const Tensor& self, int64_t dim, bool keepdim) {
    checkDense(self);
    meta::checkOrdered(kName, self);
    const int64_t along = wrapDimension(dim, self.dim());
    meta::checkLineNotEmpty(kName, self, along);
    const uint64_t mask = meta::dimensionBit(along, self.dim());
    const DimVector kept = meta::reducedSizes(self.sizes(), mask, /*keepdim=*/true);
    Tensor values = Tensor::allocate(kept, self.scalar_type(), self.device());
    Tensor indices = Tensor::allocate(kept, ScalarType::Long, self.device());
    if (!self.is_meta() && self.numel() > 0) {
      medianLines(self.device(), kName, withDimension(values), withDimension(indices), withDimension(self),
                  static_cast<size_t>(along), skips_nan);
    }
    if (keepdim || self.dim() == 0) return {values, indices};
    const DimVector sizes = meta::reducedSizes(self.sizes(), mask, /*keepdim=*/false);
    return {seenAs(values, sizes), seenAs(indices, sizes)};
  }

  static std::tuple<Tensor&, Tensor&> out(const Tensor& self, int64_t dim, bool keepdim, Tensor& values,
                                          Tensor& indices) {
    return writeSameTypes(values, indices, overDim(self, dim, keepdim), {&self});
  }

  // The median of no elements is NaN.
  static Tensor all(const Tensor& self) {
    checkDense(self);
    meta::checkOrdered(kName, self);
    if (self.numel() > 0) {
      return std::get<0>(overDim(flattened(toContiguous(self)), 0, false));
    }
    if (self.is_meta()) return Tensor::allocate({}, self.scalar_type(), self.device());
    const Tensor result = Tensor::allocate({}, self.scalar_type());
    storeNumber(result.data_ptr(), self.scalar_type(), std::numeric_limits<double>::quiet_NaN());
    return toDevice(result, self.device());
  }

 private:
  static Tensor flattened(const Tensor& tensor) {
    const int64_t sizes[] = {tensor.numel()};
    const int64_t strides[] = {1};
    return tensor.view(sizes, strides, tensor.storage_offset());
  }
};

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, medianLines) {
  m.impl("median", BOXCAR_FN(Median<false>::all));
  m.impl("median.dim", BOXCAR_FN(Median<false>::overDim));
  m.impl("median.dim_values", BOXCAR_FN(Median<false>::out));
  m.impl("nanmedian", BOXCAR_FN(Median<true>::all));
  m.impl("nanmedian.dim", BOXCAR_FN(Median<true>::overDim));
  m.impl("nanmedian.dim_values", BOXCAR_FN(Median<true>::out));
}

}  // namespace boxcar::native
