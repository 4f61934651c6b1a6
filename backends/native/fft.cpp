#include <boxcar/backends/meta/fft.h>
#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/fft.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <span>
#include <string_view>

// Fourier transforms along some dimensions, one after the other.

namespace boxcar::native {

constinit DeviceStub<TransformLines> transformLines("fft");

namespace {

void checkFftType(std::string_view name, const Tensor& self, bool complex) {
  const ScalarType type = toRealValueType(self.scalar_type());
  BOXCAR_CHECK(self.is_complex() == complex && (type == ScalarType::Float || type == ScalarType::Double),
               "{} takes {}, but got {}; convert it with .to()", name,
               complex ? "complex64 or complex128" : "float32 or float64", dtypeName(self.scalar_type()));
}

double elementsAlong(const Tensor& tensor, std::span<const int64_t> dims) {
  double elements = 1;
  for (const int64_t dim : dims) elements *= static_cast<double>(tensor.sizes()[static_cast<size_t>(dim)]);
  return elements;
}

// Returns the transform of [source] along [dims], which are in memory order.
Tensor complexToComplex(const Tensor& source, std::span<const int64_t> dims, FftKind kind, double scale) {
  const Tensor result = meta::allocateStrided(source.sizes(), meta::fftStrides(source, source.sizes(), dims),
                                              source.scalar_type(), source.device());
  if (result.is_meta()) return result;
  const Tensor* from = &source;
  for (size_t i = dims.size(); i-- > 0;) {
    transformLines(result.device(), result, *from, static_cast<size_t>(dims[i]), kind, from == &source ? scale : 1);
    from = &result;
  }
  return result;
}

Tensor c2c(const Tensor& self, std::span<const int64_t> dim, int64_t normalization, bool forward) {
  checkDense(self);
  checkFftType("_fft_c2c", self, true);
  DimVector dims = meta::transformedDims(dim, self.dim());
  const double scale = meta::fftScale(normalization, elementsAlong(self, dims));
  if (dims.empty()) {
    const Tensor copy =
        meta::allocateStrided(self.sizes(), meta::denseStrides(self), self.scalar_type(), self.device());
    copyElements(copy, self);
    return copy;
  }
  meta::sortTransformedDims(dims, dims.size(), self);
  return complexToComplex(self, dims, forward ? FftKind::kForward : FftKind::kInverse, scale);
}

Tensor r2c(const Tensor& self, std::span<const int64_t> dim, int64_t normalization, bool onesided) {
  checkDense(self);
  checkFftType("_fft_r2c", self, false);
  BOXCAR_CHECK(!dim.empty(), "_fft_r2c must transform at least one dimension, but dim is empty");
  DimVector dims = meta::transformedDims(dim, self.dim());
  const double scale = meta::fftScale(normalization, elementsAlong(self, dims));
  meta::sortTransformedDims(dims, dims.size() - 1, self);
  const auto last = static_cast<size_t>(dims.back());
  DimVector sizes = toDimVector(self.sizes());
  if (onesided) sizes[last] = sizes[last] / 2 + 1;
  const Tensor result = meta::allocateStrided(sizes, meta::fftStrides(self, sizes, dims),
                                              toComplexType(self.scalar_type()), self.device());
  if (result.is_meta()) return result;
  BOXCAR_CHECK(self.sizes()[last] > 0, "_fft_r2c needs at least one element in dimension {}, but self has sizes [{}]",
               last, fmt::join(self.sizes(), ", "));
  transformLines(result.device(), result, self, last, FftKind::kRealToComplex, scale);
  for (size_t i = dims.size() - 1; i-- > 0;) {
    transformLines(result.device(), result, result, static_cast<size_t>(dims[i]), FftKind::kForward, 1);
  }
  return result;
}

Tensor c2r(const Tensor& self, std::span<const int64_t> dim, int64_t normalization, int64_t last_dim_size) {
  checkDense(self);
  checkFftType("_fft_c2r", self, true);
  BOXCAR_CHECK(!dim.empty(), "_fft_c2r must transform at least one dimension, but dim is empty");
  DimVector dims = meta::transformedDims(dim, self.dim());
  const auto last = static_cast<size_t>(dims.back());
  BOXCAR_CHECK(last_dim_size >= 1, "Invalid number of data points ({}) specified", last_dim_size);
  BOXCAR_CHECK(self.sizes()[last] == last_dim_size / 2 + 1,
               "_fft_c2r: last_dim_size {} needs size {} in dimension {}, but self has sizes [{}]", last_dim_size,
               last_dim_size / 2 + 1, last, fmt::join(self.sizes(), ", "));
  DimVector sizes = toDimVector(self.sizes());
  sizes[last] = last_dim_size;
  const DimVector only_last(1, dims.back());
  dims.pop_back();
  const double elements = elementsAlong(self, dims) * static_cast<double>(last_dim_size);
  const double scale = meta::fftScale(normalization, elements);
  Tensor source = self;
  if (!dims.empty()) {
    meta::sortTransformedDims(dims, dims.size(), self);
    source = complexToComplex(self, dims, FftKind::kInverse, 1);
  }
  const Tensor result = meta::allocateStrided(sizes, meta::fftStrides(source, sizes, only_last),
                                              toRealValueType(self.scalar_type()), self.device());
  if (!result.is_meta()) transformLines(result.device(), result, source, last, FftKind::kComplexToReal, scale);
  return result;
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, transformLines) {
  m.impl("_fft_c2c", BOXCAR_FN(c2c));
  m.impl("_fft_r2c", BOXCAR_FN(r2c));
  m.impl("_fft_c2r", BOXCAR_FN(c2r));
}

}  // namespace boxcar::native
