#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/elements/element.h>
#include <boxcar/backends/shape/factories.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

// Sequences of numbers: in steps, at equal distances, and the places of a triangle's elements.

namespace boxcar::cpu {
namespace {

// Writes at(i) to element i of [out], which has one dimension, as T; i is a number of Index. Indices of a block are
// counted in 32 bits, which vectors of the processor convert to float64.
template <class T, class Index, class At>
void writeSequence(const Tensor& out, const At& at) {
  const Tensor elements = out.is_contiguous() ? out : Tensor::allocate(out.sizes(), out.scalar_type());
  T* data = elements.data_ptr<T>();
  constexpr int64_t kBlock = 4096;
  parallelFor(0, out.numel(), kParallelGrain, [&](int64_t begin, int64_t end) {
    for (int64_t first = begin; first < end; first += kBlock) {
      const auto start = static_cast<Index>(first);
      const auto count = static_cast<int32_t>(std::min(kBlock, end - first));
      T* const block = data + first;
      for (int32_t i = 0; i < count; ++i) block[i] = convertElement<T>(at(start + static_cast<Index>(i)));
    }
  });
  if (!elements.is_same(out)) copyElements(out, elements);
}

// [out] with [length] elements, any number of dimensions being right that has as many.
void makeRoom(const Tensor& out, int64_t length) {
  checkCpuOrMeta(out);
  if (out.numel() != length) {
    resizeOutput(out, std::span(&length, 1));
  } else {
    checkNoInternalOverlap(out);
  }
}

// Values are computed in double, or int64, and converted: steps do not add up their rounding errors.
Tensor& arangeStepOut(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  const int64_t length = shape::arangeLength(start, end, step, out.scalar_type());
  visitScalarType(kRealTypes, out.scalar_type(), "arange", [&]<class T>(std::type_identity<T>) {
    using Step = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
    const Step first = start.to<Step>();
    const Step distance = step.to<Step>();
    makeRoom(out, length);
    if (out.is_meta()) return;
    writeSequence<T, Step>(out, [=](Step i) { return first + i * distance; });
  });
  out.storage()->bumpVersion();
  return out;
}

Tensor& arangeOut(const Scalar& end, Tensor& out) { return arangeStepOut(0, end, 1, out); }

// What numbers between two ends are computed in.
template <class T>
using Between = std::conditional_t<kIsComplex<T>, std::complex<double>, double>;

// From both ends to the middle, so that the last number is [end] itself.
template <class Number>
auto between(Number start, Number end, int64_t steps) {
  const Number step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : Number(0);
  const auto last = static_cast<double>(steps - 1);
  const auto middle = steps > 1 ? static_cast<double>(steps / 2) : 1.0;
  return [=](double i) { return i < middle ? start + step * i : end - step * (last - i); };
}

Tensor& linspaceOut(const Scalar& start, const Scalar& end, int64_t steps, Tensor& out) {
  shape::checkSteps(steps);
  visitScalarType(kRealTypes + kComplexTypes, out.scalar_type(), "linspace", [&]<class T>(std::type_identity<T>) {
    const auto at = between(start.to<Between<T>>(), end.to<Between<T>>(), steps);
    makeRoom(out, steps);
    if (out.is_meta()) return;
    writeSequence<T, double>(out, at);
  });
  out.storage()->bumpVersion();
  return out;
}

Tensor& logspaceOut(const Scalar& start, const Scalar& end, int64_t steps, double base, Tensor& out) {
  shape::checkSteps(steps);
  visitScalarType(kRealTypes + kComplexTypes, out.scalar_type(), "logspace", [&]<class T>(std::type_identity<T>) {
    const auto at = between(start.to<Between<T>>(), end.to<Between<T>>(), steps);
    makeRoom(out, steps);
    if (out.is_meta()) return;
    writeSequence<T, double>(out, [&](double i) { return std::pow(Between<T>(base), at(i)); });
  });
  out.storage()->bumpVersion();
  return out;
}

// The rows' numbers, then the columns', of the elements from firstColumn(row) to before endColumn(row).
template <class First, class End>
Tensor places(int64_t count, int64_t rows, ScalarType dtype, Device device, const First& firstColumn,
              const End& endColumn) {
  const Tensor result = Tensor::allocate(std::initializer_list<int64_t>{2, count}, dtype, device);
  if (result.is_meta()) return result;
  visitScalarType(kIntegralTypes + kFloatingTypes, dtype, "tril_indices", [&]<class T>(std::type_identity<T>) {
    T* row_numbers = result.data_ptr<T>();
    T* column_numbers = row_numbers + count;
    int64_t next = 0;
    for (int64_t row = 0; row < rows && next < count; ++row) {
      const int64_t end = endColumn(row);
      for (int64_t column = firstColumn(row); column < end; ++column, ++next) {
        row_numbers[next] = static_cast<T>(row);
        column_numbers[next] = static_cast<T>(column);
      }
    }
  });
  return result;
}

Device deviceOr(std::optional<Device> device) { return device.value_or(Device(DeviceType::CPU)); }

Tensor lowerIndices(int64_t row, int64_t col, int64_t offset, std::optional<ScalarType> dtype,
                    std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  shape::checkProperties(layout, pin_memory);
  const int64_t count = shape::lowerTriangleCount(row, col, offset);
  const int64_t shift = std::clamp(offset, -row, col);
  return places(
      count, row, dtype.value_or(ScalarType::Long), deviceOr(device), [](int64_t) { return int64_t{0}; },
      [=](int64_t i) { return std::clamp<int64_t>(i + shift + 1, 0, col); });
}

Tensor upperIndices(int64_t row, int64_t col, int64_t offset, std::optional<ScalarType> dtype,
                    std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  shape::checkProperties(layout, pin_memory);
  // What does not lie below: the same as what lies on and below the diagonal of the transposed matrix.
  const int64_t shift = (shape::lowerTriangleCount(row, col, 0), std::clamp(offset, -row, col));
  const int64_t count = shape::lowerTriangleCount(col, row, -shift);
  return places(
      count, row, dtype.value_or(ScalarType::Long), deviceOr(device),
      [=](int64_t i) { return std::clamp<int64_t>(i + shift, 0, col); }, [=](int64_t) { return col; });
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  m.impl("arange.out", BOXCAR_FN(arangeOut));
  m.impl("arange.start_out", BOXCAR_FN(arangeStepOut));
  m.impl("linspace.out", BOXCAR_FN(linspaceOut));
  m.impl("logspace.out", BOXCAR_FN(logspaceOut));
  m.impl("tril_indices", BOXCAR_FN(lowerIndices));
  m.impl("triu_indices", BOXCAR_FN(upperIndices));
}

}  // namespace boxcar::cpu
