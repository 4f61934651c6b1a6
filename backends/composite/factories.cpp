#include <boxcar/backends/meta/factories.h>
#include <boxcar/backends/meta/layout.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <optional>
#include <span>

// Factories built from `empty` and the operators that fill it: a backend that has those has all factories.

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
  Tensor result = boxcar::empty(size, dtype.value_or(meta::typeOfFill(fill_value)), layout, device, pin_memory);
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
  const ScalarType type = dtype.value_or(meta::typeOfArange(start, end, step));
  const int64_t length = meta::arangeLength(start, end, step, type);
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

Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, OptionalType dtype, OptionalLayout layout,
                OptionalDevice device, OptionalBool pin_memory) {
  meta::checkSteps(steps);
  const ScalarType type = dtype.value_or(meta::typeOfLinspace(start, end));
  Tensor result = boxcar::empty(std::span(&steps, 1), type, layout, device, pin_memory);
  return boxcar::linspace_out(result, start, end, steps);
}

Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base, OptionalType dtype,
                OptionalLayout layout, OptionalDevice device, OptionalBool pin_memory) {
  meta::checkSteps(steps);
  const ScalarType type = dtype.value_or(meta::typeOfLinspace(start, end));
  Tensor result = boxcar::empty(std::span(&steps, 1), type, layout, device, pin_memory);
  return boxcar::logspace_out(result, start, end, steps, base);
}

Tensor& zerosOut(IntSpan size, Tensor& out) { return boxcar::zero_(boxcar::empty_out(out, size)); }

// Rejects a value that the dtype cannot represent before [out] is resized.
Tensor& fullOut(IntSpan size, const Scalar& fill_value, Tensor& out) {
  boxcar::scalar_tensor(fill_value, out.scalar_type());
  return boxcar::fill_(boxcar::empty_out(out, size), fill_value);
}

Tensor& onesOut(IntSpan size, Tensor& out) { return boxcar::fill_(boxcar::empty_out(out, size), 1); }

// The last dimension in [physical_layout] is the one with adjacent elements.
Tensor emptyPermuted(IntSpan size, IntSpan physical_layout, OptionalType dtype, OptionalLayout layout,
                     OptionalDevice device, OptionalBool pin_memory) {
  BOXCAR_CHECK(size.size() == physical_layout.size(),
               "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = {} is "
               "not equal to len(physical_layout) = {}",
               size.size(), physical_layout.size());
  DimVector permuted;
  DimVector place_of(size.size(), -1);
  for (size_t i = 0; i < size.size(); ++i) {
    const int64_t dim = physical_layout[i];
    BOXCAR_CHECK(dim >= 0 && dim < static_cast<int64_t>(size.size()),
                 "Dimension out of range (expected to be between 0 and {}, but got {} at index {}). NB: negative dims "
                 "not currently supported.",
                 static_cast<int64_t>(size.size()) - 1, dim, i);
    BOXCAR_CHECK(place_of[static_cast<size_t>(dim)] < 0, "Duplicate dim not allowed: {} in [{}]", dim,
                 fmt::join(physical_layout, ", "));
    place_of[static_cast<size_t>(dim)] = static_cast<int64_t>(i);
    permuted.push_back(size[static_cast<size_t>(dim)]);
  }
  return boxcar::permute(boxcar::empty(permuted, dtype, layout, device, pin_memory), place_of);
}

// Without a format, the dimensions have the same memory order as those of [self].
Tensor emptyLike(const Tensor& self, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
                 OptionalBool pin_memory, OptionalFormat memory_format) {
  const ScalarType type = dtype.value_or(self.scalar_type());
  const Device where = device.value_or(self.device());
  if (memory_format.value_or(MemoryFormat::Preserve) != MemoryFormat::Preserve) {
    return boxcar::empty(self.sizes(), type, layout, where, pin_memory, memory_format);
  }
  if (self.is_contiguous()) return boxcar::empty(self.sizes(), type, layout, where, pin_memory);
  return boxcar::empty_strided(self.sizes(), meta::denseStrides(self), type, layout, where, pin_memory);
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

Tensor newEmpty(const Tensor& self, IntSpan size, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
                OptionalBool pin_memory) {
  return boxcar::empty(size, dtype.value_or(self.scalar_type()), layout, device.value_or(self.device()), pin_memory);
}

Tensor newEmptyStrided(const Tensor& self, IntSpan size, IntSpan stride, OptionalType dtype, OptionalLayout layout,
                       OptionalDevice device, OptionalBool pin_memory) {
  return boxcar::empty_strided(size, stride, dtype.value_or(self.scalar_type()), layout, device.value_or(self.device()),
                               pin_memory);
}

Tensor newFull(const Tensor& self, IntSpan size, const Scalar& fill_value, OptionalType dtype, OptionalLayout layout,
               OptionalDevice device, OptionalBool pin_memory) {
  Tensor result = newEmpty(self, size, dtype, layout, device, pin_memory);
  return boxcar::fill_(result, fill_value);
}

Tensor newZeros(const Tensor& self, IntSpan size, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
                OptionalBool pin_memory) {
  Tensor result = newEmpty(self, size, dtype, layout, device, pin_memory);
  return boxcar::zero_(result);
}

Tensor newOnes(const Tensor& self, IntSpan size, OptionalType dtype, OptionalLayout layout, OptionalDevice device,
               OptionalBool pin_memory) {
  return newFull(self, size, 1, dtype, layout, device, pin_memory);
}

Tensor fillNumber(const Tensor& self, const Scalar& value) {
  Tensor result = boxcar::empty_like(self);
  return boxcar::fill_(result, value);
}
Tensor fillTensor(const Tensor& self, const Tensor& value) {
  Tensor result = boxcar::empty_like(self);
  return boxcar::fill_(result, value);
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
  m.impl("linspace", BOXCAR_FN(linspace));
  m.impl("logspace", BOXCAR_FN(logspace));
  m.impl("zeros.out", BOXCAR_FN(zerosOut));
  m.impl("ones.out", BOXCAR_FN(onesOut));
  m.impl("full.out", BOXCAR_FN(fullOut));
  m.impl("empty_permuted", BOXCAR_FN(emptyPermuted));
  m.impl("new_empty", BOXCAR_FN(newEmpty));
  m.impl("new_empty_strided", BOXCAR_FN(newEmptyStrided));
  m.impl("new_full", BOXCAR_FN(newFull));
  m.impl("new_zeros", BOXCAR_FN(newZeros));
  m.impl("new_ones", BOXCAR_FN(newOnes));
  m.impl("fill.Scalar", BOXCAR_FN(fillNumber));
  m.impl("fill.Tensor", BOXCAR_FN(fillTensor));
  m.impl("empty_like", BOXCAR_FN(emptyLike));
  m.impl("zeros_like", BOXCAR_FN(zerosLike));
  m.impl("ones_like", BOXCAR_FN(onesLike));
  m.impl("full_like", BOXCAR_FN(fullLike));
}

}  // namespace boxcar::composite
