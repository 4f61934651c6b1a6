#include <boxcar/backends/cpu/copy.h>
#include <boxcar/backends/cpu/iterator.h>
#include <boxcar/backends/shape/factories.h>
#include <boxcar/backends/shape/layout.h>
#include <boxcar/backends/shape/promotion.h>
#include <boxcar/dispatcher/library.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <span>

namespace boxcar::cpu {
namespace {

using IntSpan = std::span<const int64_t>;

void checkSizes(IntSpan size) {
  for (const int64_t extent : size) {
    BOXCAR_CHECK(extent >= 0, "Trying to create tensor with negative dimension {}: [{}]", extent,
                 fmt::join(size, ", "));
  }
}

Tensor empty(IntSpan size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
             std::optional<Device> /*device*/, std::optional<bool> pin_memory,
             std::optional<MemoryFormat> memory_format) {
  checkSizes(size);
  shape::checkProperties(layout, pin_memory);
  const ScalarType type = dtype.value_or(shape::kDefaultDtype);
  if (memory_format.value_or(MemoryFormat::Contiguous) == MemoryFormat::Contiguous) return Tensor::allocate(size, type);
  return shape::allocateStrided(size, shape::stridesIn(*memory_format, size), type, Device(DeviceType::CPU));
}

Tensor emptyStrided(IntSpan size, IntSpan stride, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                    std::optional<Device> /*device*/, std::optional<bool> pin_memory) {
  checkSizes(size);
  shape::checkProperties(layout, pin_memory);
  BOXCAR_CHECK(size.size() == stride.size(), "mismatch in length of strides and shape: strides [{}], shape [{}]",
               fmt::join(stride, ", "), fmt::join(size, ", "));
  const ScalarType type = dtype.value_or(shape::kDefaultDtype);
  int64_t reached = 1;
  for (size_t i = 0; i < size.size(); ++i) {
    BOXCAR_CHECK(stride[i] >= 0, "empty_strided(): strides must not be negative, but they are [{}]",
                 fmt::join(stride, ", "));
    int64_t extent = 0;
    const bool overflow = size[i] > 0 && (__builtin_mul_overflow(size[i] - 1, stride[i], &extent) ||
                                          __builtin_add_overflow(reached, extent, &reached));
    BOXCAR_CHECK(!overflow, "a tensor of sizes [{}] and strides [{}] is too large", fmt::join(size, ", "),
                 fmt::join(stride, ", "));
  }
  const int64_t elements[] = {numelOf(size) == 0 ? 0 : reached};
  return Tensor::allocate(elements, type).view(size, stride, 0);
}

template <class T>
struct Fill {
  T value;
  explicit Fill(const Scalar* params) : value(params->to<T>()) {}
  T operator()() const { return value; }
};

constexpr Pointwise kFill = makePointwise<Fill, 0, Result::kSame>("fill_", kAllTypes);

// The result has the type of what is filled, not that of inputs, of which there are none.
Tensor& fillWith(Tensor& self, const Scalar& value) {
  checkOnCpu(self);
  const Loop loop = kFill.loops[static_cast<size_t>(self.scalar_type())];
  StridedLoop nest(self.sizes());
  nest.add(self.data_ptr(), self.sizes(), self.strides(), self.itemsize());
  nest.run(loop, &value);
  self.storage()->bumpVersion();
  return self;
}

Tensor& fillTensor(Tensor& self, const Tensor& value) {
  checkOnCpu(value);
  BOXCAR_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with {} dimensions.",
               value.dim());
  return fillWith(self, loadNumber(value.data_ptr(), value.scalar_type()));
}

Tensor& zero(Tensor& self) {
  checkOnCpu(self);
  if (!shape::isDense(self.sizes(), self.strides())) return fillWith(self, 0);
  if (self.numel() > 0) std::memset(self.data_ptr(), 0, self.nbytes());
  self.storage()->bumpVersion();
  return self;
}

// Values are computed in double, or int64, and converted: steps do not add up their rounding errors.
template <class T>
void countUp(const Tensor& out, const Scalar& start, const Scalar& step) {
  using Step = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
  const Step first = start.to<Step>();
  const Step distance = step.to<Step>();
  T* elements = out.data_ptr<T>();
  for (int64_t i = 0; i < out.numel(); ++i) elements[i] = static_cast<T>(first + static_cast<Step>(i) * distance);
}

Tensor& arangeOut(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  checkOnCpu(out);
  const int64_t length = shape::arangeLength(start, end, step, out.scalar_type());
  if (out.numel() != length) resizeOutput(out, std::span(&length, 1));
  const Tensor elements = out.is_contiguous() ? out : Tensor::allocate(out.sizes(), out.scalar_type());
  visitScalarType(kRealTypes, out.scalar_type(), "arange",
                  [&]<class T>(std::type_identity<T>) { countUp<T>(elements, start, step); });
  if (!elements.is_same(out)) copyElements(out, elements);
  out.storage()->bumpVersion();
  return out;
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("empty.memory_format", BOXCAR_FN(empty));
  m.impl("empty_strided", BOXCAR_FN(emptyStrided));
  m.impl("fill_.Scalar", BOXCAR_FN(fillWith));
  m.impl("fill_.Tensor", BOXCAR_FN(fillTensor));
  m.impl("zero_", BOXCAR_FN(zero));
  m.impl("arange.start_out", BOXCAR_FN(arangeOut));
}

}  // namespace boxcar::cpu
