#include <boxcar/backends/shape/factories.h>
#include <boxcar/backends/shape/layout.h>
#include <boxcar/dispatcher/library.h>
#include <boxcar/ops.h>

#include <optional>
#include <span>

// Factories that are made of `empty` and of what writes to it: a backend that has those has them all.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;
using OptionalType = std::optional<ScalarType>;
using OptionalLayout = std::optional<Layout>;
using OptionalDevice = std::optional<Device>;
using OptionalBool = std::optional<bool>;
using OptionalFormat = std::optional<MemoryFormat>;

Tensor zeros(IntSpan size, OptionalType dtype, OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  Tensor result = boxcar::empty(size, dtype, layout, device, pin_memory);
  return boxcar::zero_(result);
}

Tensor full(IntSpan size, const Scalar& fill_value, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
            OptionalBool pin_memory) {
  Tensor result = boxcar::empty(size, dtype.value_or(shape::typeOfFill(fill_value)), layout, device, pin_memory);
  return boxcar::fill_(result, fill_value);
}

Tensor ones(IntSpan size, OptionalType dtype, OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  Tensor result = boxcar::empty(size, dtype, layout, device, pin_memory);
  return boxcar::fill_(result, 1);
}

Tensor scalarTensor(const Scalar& s, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
                    OptionalBool pin_memory) {
  Tensor result = boxcar::empty({}, dtype, layout, device, pin_memory);
  return boxcar::fill_(result, s);
}

Tensor arangeStep(const Scalar& start, const Scalar& end, const Scalar& step, OptionalType dtype, OptionalLayout layout,
                  OptionalDevice device, OptionalBool pin_memory) {
  const ScalarType type = dtype.value_or(shape::typeOfArange(start, end, step));
  const int64_t length = shape::arangeLength(start, end, step, type);
  Tensor result = boxcar::empty(std::span(&length, 1), type, layout, device, pin_memory);
  return boxcar::arange_out(result, start, end, step);
}

Tensor arangeStart(const Scalar& start, const Scalar& end, OptionalType dtype, OptionalLayout layout,
                   OptionalDevice device, OptionalBool pin_memory) {
  return arangeStep(start, end, 1, dtype, layout, device, pin_memory);
}

Tensor arange(const Scalar& end, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
              OptionalBool pin_memory) {
  return arangeStep(0, end, 1, dtype, layout, device, pin_memory);
}

Tensor randGenerator(IntSpan size, std::optional<Generator> generator, OptionalType dtype, OptionalLayout layout,
                     OptionalDevice device, OptionalBool pin_memory) {
  Tensor result = boxcar::empty(size, dtype, layout, device, pin_memory);
  return boxcar::uniform_(result, 0, 1, generator);
}
Tensor rand(IntSpan size, OptionalType dtype, OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  return randGenerator(size, std::nullopt, dtype, layout, device, pin_memory);
}

Tensor randnGenerator(IntSpan size, std::optional<Generator> generator, OptionalType dtype, OptionalLayout layout,
                      OptionalDevice device, OptionalBool pin_memory) {
  Tensor result = boxcar::empty(size, dtype, layout, device, pin_memory);
  return boxcar::normal_(result, 0, 1, generator);
}
Tensor randn(IntSpan size, OptionalType dtype, OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  return randnGenerator(size, std::nullopt, dtype, layout, device, pin_memory);
}

// Without a format the dimensions lie in memory as those of [self].
Tensor emptyLike(const Tensor& self, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
                 OptionalBool pin_memory, OptionalFormat memory_format) {
  const ScalarType type = dtype.value_or(self.scalar_type());
  const Device where = device.value_or(self.device());
  if (memory_format.value_or(MemoryFormat::Preserve) != MemoryFormat::Preserve) {
    return boxcar::empty(self.sizes(), type, layout, where, pin_memory, memory_format);
  }
  if (self.is_contiguous()) return boxcar::empty(self.sizes(), type, layout, where, pin_memory);
  return boxcar::empty_strided(self.sizes(), shape::denseStrides(self), type, layout, where, pin_memory);
}

Tensor zerosLike(const Tensor& self, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
                 OptionalBool pin_memory, OptionalFormat memory_format) {
  Tensor result = boxcar::empty_like(self, dtype, layout, device, pin_memory, memory_format);
  return boxcar::zero_(result);
}

Tensor fullLike(const Tensor& self, const Scalar& fill_value, OptionalType dtype, OptionalLayout layout,
                OptionalDevice device, OptionalBool pin_memory, OptionalFormat memory_format) {
  Tensor result = boxcar::empty_like(self, dtype, layout, device, pin_memory, memory_format);
  return boxcar::fill_(result, fill_value);
}

Tensor onesLike(const Tensor& self, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
                OptionalBool pin_memory, OptionalFormat memory_format) {
  return fullLike(self, 1, dtype, layout, device, pin_memory, memory_format);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("zeros", BOXCAR_FN(zeros));
  m.impl("ones", BOXCAR_FN(ones));
  m.impl("full", BOXCAR_FN(full));
  m.impl("scalar_tensor", BOXCAR_FN(scalarTensor));
  m.impl("arange", BOXCAR_FN(arange));
  m.impl("arange.start", BOXCAR_FN(arangeStart));
  m.impl("arange.start_step", BOXCAR_FN(arangeStep));
  m.impl("rand", BOXCAR_FN(rand));
  m.impl("rand.generator", BOXCAR_FN(randGenerator));
  m.impl("randn", BOXCAR_FN(randn));
  m.impl("randn.generator", BOXCAR_FN(randnGenerator));
  m.impl("empty_like", BOXCAR_FN(emptyLike));
  m.impl("zeros_like", BOXCAR_FN(zerosLike));
  m.impl("ones_like", BOXCAR_FN(onesLike));
  m.impl("full_like", BOXCAR_FN(fullLike));
}

}  // namespace boxcar::composite
