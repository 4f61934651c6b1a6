#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/composite/fft.h>
#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/meta/fft.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// Fourier transforms of real and complex tensors, made of transforms from complex or real to complex elements and back.

namespace boxcar::composite {

int64_t fftNormalization(std::optional<std::string_view> norm, bool forward) {
  if (norm == "ortho") return 1;
  if (!norm.has_value() || norm == "backward") return forward ? 0 : 2;
  BOXCAR_CHECK(norm == "forward",
               "Invalid normalization mode: \"{}\"; it must be \"backward\", \"ortho\" or \"forward\"", *norm);
  return forward ? 2 : 0;
}

Tensor fftInput(std::string_view name, const Tensor& self, bool complex) {
  ScalarType type = toRealValueType(self.scalar_type());
  if (!isFloatingType(type)) type = ScalarType::Float;
  BOXCAR_CHECK(type == ScalarType::Float || type == ScalarType::Double,
               "{} does not support dtype {}; convert the tensor with .to(float32) or .to(complex64)", name,
               dtypeName(self.scalar_type()));
  return converted(self, complex || self.is_complex() ? toComplexType(type) : type);
}

namespace {

using IntSpan = std::span<const int64_t>;
using OptionalInts = std::optional<IntSpan>;
using OptionalName = std::optional<std::string_view>;

void checkPoints(int64_t count) { BOXCAR_CHECK(count >= 1, "Invalid number of data points ({}) specified", count); }

// Returns the usual size of a real signal of whose transform there are [size] elements.
int64_t realPoints(int64_t size) {
  BOXCAR_CHECK(size < std::numeric_limits<int64_t>::max() / 2, "a Fourier transform of {} elements is too long", size);
  return 2 * (size - 1);
}

void checkReal(std::string_view name, const Tensor& self) {
  BOXCAR_CHECK(!self.is_complex(), "{} expects a real input tensor, but got {}", name, dtypeName(self.scalar_type()));
}

// Cuts [self] along [dims] to [sizes], or pads it with zeros.
Tensor cutOrPad(Tensor self, IntSpan dims, IntSpan sizes) {
  DimVector pad(2 * self.sizes().size(), 0);
  bool pads = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t size = self.size(dims[i]);
    if (size > sizes[i]) self = boxcar::slice(self, dims[i], 0, sizes[i]);
    if (size >= sizes[i]) continue;
    pads = true;
    pad[pad.size() - 2 * static_cast<size_t>(dims[i]) - 1] = sizes[i] - size;
  }
  return pads ? boxcar::constant_pad_nd(self, pad) : self;
}

// The dimensions of a transform, and the sizes that the input is cut or padded to.
struct FftShape {
  DimVector dims;
  DimVector sizes;
  int64_t last = 0;  // the real signal's size along the last dimension, if the input is half of its transform
};

// [half]: the input is half of the transform of a real signal, of which [s] gives the sizes.
FftShape fftShape(std::string_view name, const Tensor& self, OptionalInts s, OptionalInts dim, bool half) {
  FftShape shape;
  if (dim.has_value()) shape.dims = meta::transformedDims(*dim, self.dim());
  if (s.has_value()) {
    BOXCAR_CHECK(!dim.has_value() || dim->size() == s->size(),
                 "When given, dim and shape arguments must have the same length, but they have {} and {} values",
                 shape.dims.size(), s->size());
    BOXCAR_CHECK(s->size() <= self.sizes().size(), "Got shape with {} values but input tensor only has {} dimensions.",
                 s->size(), self.dim());
  }
  if (!dim.has_value()) {
    shape.dims.resize(s.has_value() ? s->size() : self.sizes().size());
    std::iota(shape.dims.begin(), shape.dims.end(), self.dim() - static_cast<int64_t>(shape.dims.size()));
  }
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    const bool given = s.has_value() && (*s)[i] != -1;
    shape.sizes.push_back(given ? (*s)[i] : self.size(shape.dims[i]));
    checkPoints(shape.sizes.back());
  }
  if (!half) return shape;
  BOXCAR_CHECK(!shape.dims.empty(), "{} must transform at least one axis", name);
  const bool given = s.has_value() && s->back() != -1;
  shape.last = given ? shape.sizes.back() : realPoints(shape.sizes.back());
  checkPoints(shape.last);
  shape.sizes.back() = shape.last / 2 + 1;
  return shape;
}

// As fftShape, for one dimension.
FftShape lineShape(const Tensor& self, std::optional<int64_t> n, int64_t dim, bool half) {
  FftShape shape;
  shape.dims = meta::transformedDims(std::span(&dim, 1), self.dim());
  const int64_t size = self.size(shape.dims[0]);
  shape.last = n.value_or(half ? realPoints(size) : size);
  checkPoints(shape.last);
  shape.sizes.push_back(!half ? shape.last : n.has_value() ? shape.last / 2 + 1 : size);
  return shape;
}

IntSpan allButLast(const FftShape& shape) { return IntSpan(shape.dims).first(shape.dims.size() - 1); }
IntSpan onlyLast(const FftShape& shape) { return IntSpan(shape.dims).last(1); }

Tensor prepared(std::string_view name, const Tensor& self, const FftShape& shape, bool complex) {
  return cutOrPad(fftInput(name, self, complex), shape.dims, shape.sizes);
}

// Complex results: [forward] or inverse.
Tensor toComplex(std::string_view name, const Tensor& self, const FftShape& shape, OptionalName norm, bool forward) {
  return boxcar::_fft_c2c(prepared(name, self, shape, true), shape.dims, fftNormalization(norm, forward), forward);
}

// Half of the transform of a real tensor; of its inverse transform, if not [forward].
Tensor toHalf(std::string_view name, const Tensor& self, const FftShape& shape, OptionalName norm, bool forward) {
  const int64_t normalization = fftNormalization(norm, forward);
  const Tensor input = prepared(name, self, shape, false);
  if (forward) return boxcar::_fft_r2c(input, shape.dims, normalization, true);
  // The inverse transform of real elements is the conjugate of the transform.
  const Tensor half = boxcar::conj_physical(boxcar::_fft_r2c(input, onlyLast(shape), normalization, true));
  return shape.dims.size() == 1 ? half : boxcar::_fft_c2c(half, allButLast(shape), normalization, false);
}

// A real tensor from half of its transform; from half of its inverse transform, if [forward].
Tensor fromHalf(std::string_view name, const Tensor& self, const FftShape& shape, OptionalName norm, bool forward) {
  const int64_t normalization = fftNormalization(norm, forward);
  Tensor input = prepared(name, self, shape, true);
  if (!forward) return boxcar::_fft_c2r(input, shape.dims, normalization, shape.last);
  if (shape.dims.size() > 1) input = boxcar::_fft_c2c(input, allButLast(shape), normalization, true);
  return boxcar::_fft_c2r(boxcar::conj_physical(input), onlyLast(shape), normalization, shape.last);
}

// One dimension: real input is transformed as such, which takes half the time.
template <bool forward>
Tensor line(const Tensor& self, std::optional<int64_t> n, int64_t dim, OptionalName norm) {
  const char* const name = forward ? "fft" : "ifft";
  const FftShape shape = lineShape(self, n, dim, false);
  if (self.is_complex()) return toComplex(name, self, shape, norm, forward);
  const Tensor input = prepared(name, self, shape, false);
  const Tensor result = boxcar::_fft_r2c(input, shape.dims, fftNormalization(norm, forward), false);
  return forward ? result : boxcar::conj_physical(result);
}

template <bool forward>
Tensor lineToHalf(const Tensor& self, std::optional<int64_t> n, int64_t dim, OptionalName norm) {
  const char* const name = forward ? "rfft" : "ihfft";
  checkReal(name, self);
  return toHalf(name, self, lineShape(self, n, dim, false), norm, forward);
}

template <bool forward>
Tensor lineFromHalf(const Tensor& self, std::optional<int64_t> n, int64_t dim, OptionalName norm) {
  return fromHalf(forward ? "hfft" : "irfft", self, lineShape(self, n, dim, true), norm, forward);
}

// Several dimensions.
template <bool forward>
Tensor field(const Tensor& self, OptionalInts s, OptionalInts dim, OptionalName norm) {
  const char* const name = forward ? "fftn" : "ifftn";
  return toComplex(name, self, fftShape(name, self, s, dim, false), norm, forward);
}

template <bool forward>
Tensor fieldToHalf(const Tensor& self, OptionalInts s, OptionalInts dim, OptionalName norm) {
  const char* const name = forward ? "rfftn" : "ihfftn";
  checkReal(name, self);
  const FftShape shape = fftShape(name, self, s, dim, false);
  BOXCAR_CHECK(!shape.dims.empty(), "{} must transform at least one axis", name);
  return toHalf(name, self, shape, norm, forward);
}

template <bool forward>
Tensor fieldFromHalf(const Tensor& self, OptionalInts s, OptionalInts dim, OptionalName norm) {
  const char* const name = forward ? "hfftn" : "irfftn";
  return fromHalf(name, self, fftShape(name, self, s, dim, true), norm, forward);
}

// The forms with out=, and those for two dimensions, whose [dim] is always given.
template <auto function>
Tensor& lineOut(const Tensor& self, std::optional<int64_t> n, int64_t dim, OptionalName norm, Tensor& out) {
  return writeResult(out, function(self, n, dim, norm));
}
template <auto function>
Tensor& fieldOut(const Tensor& self, OptionalInts s, OptionalInts dim, OptionalName norm, Tensor& out) {
  return writeResult(out, function(self, s, dim, norm));
}
template <auto function>
Tensor plane(const Tensor& self, OptionalInts s, IntSpan dim, OptionalName norm) {
  return function(self, s, dim, norm);
}
template <auto function>
Tensor& planeOut(const Tensor& self, OptionalInts s, IntSpan dim, OptionalName norm, Tensor& out) {
  return writeResult(out, function(self, s, dim, norm));
}

Tensor& c2cOut(const Tensor& self, IntSpan dim, int64_t normalization, bool forward, Tensor& out) {
  return writeResult(out, boxcar::_fft_c2c(self, dim, normalization, forward));
}
Tensor& r2cOut(const Tensor& self, IntSpan dim, int64_t normalization, bool onesided, Tensor& out) {
  return writeResult(out, boxcar::_fft_r2c(self, dim, normalization, onesided));
}
Tensor& c2rOut(const Tensor& self, IntSpan dim, int64_t normalization, int64_t last_dim_size, Tensor& out) {
  return writeResult(out, boxcar::_fft_c2r(self, dim, normalization, last_dim_size));
}

// Rolls by half of each size, rounded up or down.
template <int64_t up>
Tensor shift(const Tensor& self, OptionalInts dim) {
  DimVector dims;
  if (dim.has_value()) {
    dims = toDimVector(*dim);
  } else {
    dims.resize(self.sizes().size());
    std::iota(dims.begin(), dims.end(), 0);
  }
  DimVector shifts;
  for (int64_t& each : dims) {
    each = wrapDimension(each, self.dim());
    shifts.push_back(self.dim() == 0 ? 0 : (self.size(each) + up) / 2);
  }
  return boxcar::roll(self, shifts, dims);
}

Tensor frequencies(int64_t n, double d, bool half, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                   std::optional<Device> device, std::optional<bool> pin_memory) {
  const char* const name = half ? "rfftfreq" : "fftfreq";
  const ScalarType type = dtype.value_or(ScalarType::Float);
  BOXCAR_CHECK(isFloatingType(type) || isComplexType(type), "{} requires a floating point or complex dtype, but got {}",
               name, dtypeName(type));
  const int64_t count = half ? n / 2 + 1 : n;
  BOXCAR_CHECK(count >= 0, "{} needs a number of elements that is not negative, but n is {}", name, n);
  const Tensor result = boxcar::arange(count, type, layout, device, pin_memory);
  if (!half && n > 0) {
    Tensor negative = boxcar::slice(result, 0, (n + 1) / 2);
    boxcar::sub_(negative, n);
  }
  return boxcar::mul(result, 1.0 / (static_cast<double>(n) * d));
}

template <bool half>
Tensor frequenciesOf(int64_t n, double d, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                     std::optional<Device> device, std::optional<bool> pin_memory) {
  return frequencies(n, d, half, dtype, layout, device, pin_memory);
}
template <bool half>
Tensor& frequenciesOut(int64_t n, double d, Tensor& out) {
  return writeResult(out, frequencies(n, d, half, out.scalar_type(), out.layout(), out.device(), std::nullopt));
}

// Registers the forms for one, two and any number of dimensions, each with its out= form.
template <auto one, auto several>
void registerFft(Library& m, const std::string& name) {
  m.impl(name, BOXCAR_FN(one));
  m.impl(name + ".out", BOXCAR_FN(lineOut<one>));
  m.impl(name + "2", BOXCAR_FN(plane<several>));
  m.impl(name + "2.out", BOXCAR_FN(planeOut<several>));
  m.impl(name + "n", BOXCAR_FN(several));
  m.impl(name + "n.out", BOXCAR_FN(fieldOut<several>));
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  registerFft<line<true>, field<true>>(m, "fft_fft");
  registerFft<line<false>, field<false>>(m, "fft_ifft");
  registerFft<lineToHalf<true>, fieldToHalf<true>>(m, "fft_rfft");
  registerFft<lineFromHalf<false>, fieldFromHalf<false>>(m, "fft_irfft");
  registerFft<lineFromHalf<true>, fieldFromHalf<true>>(m, "fft_hfft");
  registerFft<lineToHalf<false>, fieldToHalf<false>>(m, "fft_ihfft");
  m.impl("fft_fftshift", BOXCAR_FN(shift<0>));
  m.impl("fft_ifftshift", BOXCAR_FN(shift<1>));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("_fft_c2c.out", BOXCAR_FN(c2cOut));
  m.impl("_fft_r2c.out", BOXCAR_FN(r2cOut));
  m.impl("_fft_c2r.out", BOXCAR_FN(c2rOut));
  m.impl("fft_fftfreq", BOXCAR_FN(frequenciesOf<false>));
  m.impl("fft_fftfreq.out", BOXCAR_FN(frequenciesOut<false>));
  m.impl("fft_rfftfreq", BOXCAR_FN(frequenciesOf<true>));
  m.impl("fft_rfftfreq.out", BOXCAR_FN(frequenciesOut<true>));
}

}  // namespace boxcar::composite
