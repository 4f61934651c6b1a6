#include <boxcar/backends/meta/factories.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/factories.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/sequences.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <optional>
#include <span>

// Sequences of numbers: in steps, at equal distances, and the indices of a triangle's elements.

namespace boxcar::native {

constinit DeviceStub<FillSequence> fillSequence("arange");

namespace {

using IntSpan = std::span<const int64_t>;

// Resizes [out] to [length] elements; keeps its sizes if it already has as many.
void makeRoom(const Tensor& out, int64_t length) {
  const IntSpan sizes = out.numel() == length ? out.sizes() : IntSpan(&length, 1);
  prepare({{out, sizes, {1}, out.scalar_type(), out.device()}}, {}, Overlap::kAllowed);
}

// Throws Error if an end of the sequence has an imaginary part and [out] is real.
void checkEnds(const Tensor& out, const Scalar& start, const Scalar& end) {
  for (const Scalar* number : {&start, &end}) {
    if (!out.is_complex()) number->toDouble();
  }
}

// Returns a number of a sequence: those of integers are truncated first.
Scalar endOf(const Tensor& out, const Scalar& number) {
  return isIntegralType(out.scalar_type(), /*includeBool=*/false) ? Scalar(number.toLong()) : number;
}

void writeSequence(const Tensor& out, const Sequence& sequence) {
  if (out.is_meta() || out.numel() == 0) return;
  if (out.is_contiguous()) return fillSequence(out.device(), out, sequence);
  const Tensor elements = Tensor::allocate(out.sizes(), out.scalar_type(), out.device());
  fillSequence(out.device(), elements, sequence);
  copyElements(out, elements);
}

// Values are computed in double, or int64, and converted, so rounding errors of steps do not accumulate.
Tensor& arangeStepOut(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  const int64_t length = meta::arangeLength(start, end, step, out.scalar_type());
  const Sequence sequence{Sequence::kSteps, endOf(out, start), endOf(out, step), 0, 0};
  visitScalarType(kRealTypes, out.scalar_type(), "arange", [&](auto) {
    makeRoom(out, length);
    writeSequence(out, sequence);
  });
  return out;
}

Tensor& arangeOut(const Scalar& end, Tensor& out) { return arangeStepOut(0, end, 1, out); }

Tensor& linspaceOut(const Scalar& start, const Scalar& end, int64_t steps, Tensor& out) {
  meta::checkSteps(steps);
  checkEnds(out, start, end);
  const Sequence sequence{Sequence::kClamp, endOf(out, start), endOf(out, end), steps, 0};
  visitScalarType(kRealTypes + kComplexTypes, out.scalar_type(), "linspace", [&](auto) {
    makeRoom(out, steps);
    writeSequence(out, sequence);
  });
  return out;
}

Tensor& logspaceOut(const Scalar& start, const Scalar& end, int64_t steps, double base, Tensor& out) {
  meta::checkSteps(steps);
  checkEnds(out, start, end);
  const Sequence sequence{Sequence::kPowers, endOf(out, start), endOf(out, end), steps, base};
  visitScalarType(kRealTypes + kComplexTypes, out.scalar_type(), "logspace", [&](auto) {
    makeRoom(out, steps);
    writeSequence(out, sequence);
  });
  return out;
}

// Returns the row indices, then the column indices, of the elements in [firstColumn(row), endColumn(row)).
template <class First, class End>
Tensor places(int64_t count, int64_t rows, ScalarType dtype, Device device, const First& firstColumn,
              const End& endColumn) {
  const Device made_on = device.is_meta() ? device : Device(DeviceType::CPU);
  Tensor result = Tensor::allocate(std::initializer_list<int64_t>{2, count}, dtype, made_on);
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
  return toDevice(result, device);
}

Device deviceOr(std::optional<Device> device) {
  const Device wanted = device.value_or(Device(DeviceType::CPU));
  return wanted.is_cuda() ? completeDevice(wanted) : wanted;
}

Tensor lowerIndices(int64_t row, int64_t col, int64_t offset, std::optional<ScalarType> dtype,
                    std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  meta::checkProperties(layout, pin_memory);
  const int64_t count = meta::lowerTriangleCount(row, col, offset);
  const int64_t shift = std::clamp(offset, -row, col);
  return places(
      count, row, dtype.value_or(ScalarType::Long), deviceOr(device), [](int64_t) { return int64_t{0}; },
      [=](int64_t i) { return std::clamp<int64_t>(i + shift + 1, 0, col); });
}

Tensor upperIndices(int64_t row, int64_t col, int64_t offset, std::optional<ScalarType> dtype,
                    std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  meta::checkProperties(layout, pin_memory);
  // Elements on and above the diagonal are those on and below the diagonal of the transposed matrix.
  const int64_t shift = (meta::lowerTriangleCount(row, col, 0), std::clamp(offset, -row, col));
  const int64_t count = meta::lowerTriangleCount(col, row, -shift);
  return places(
      count, row, dtype.value_or(ScalarType::Long), deviceOr(device),
      [=](int64_t i) { return std::clamp<int64_t>(i + shift, 0, col); }, [=](int64_t) { return col; });
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, fillSequence) {
  m.impl("arange.out", BOXCAR_FN(arangeOut));
  m.impl("arange.start_out", BOXCAR_FN(arangeStepOut));
  m.impl("linspace.out", BOXCAR_FN(linspaceOut));
  m.impl("logspace.out", BOXCAR_FN(logspaceOut));
  m.impl("tril_indices", BOXCAR_FN(lowerIndices));
  m.impl("triu_indices", BOXCAR_FN(upperIndices));
}

}  // namespace boxcar::native
