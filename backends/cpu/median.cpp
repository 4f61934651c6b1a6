#include <boxcar/backends/cpu/indexed_loop.h>
#include <boxcar/backends/cpu/lines.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/cpu/sort_entries.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/dense/write_out.h>
#include <boxcar/backends/elements/arithmetic.h>
#include <boxcar/backends/shape/reduction.h>
#include <boxcar/backends/shape/sorting.h>
#include <boxcar/ivalue/error.h>

#include <limits>
#include <tuple>

namespace boxcar::cpu {
namespace {

// The index of the middle element of a line, the lower of two. NaN, which is the greatest, wins where there is one, or
// is left out if [skips_nan].
template <class T, class Entry>
int64_t middleOf(const char* in, int64_t step, int64_t count, bool skips_nan) {
  Entries<Entry> entries;
  entries.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const char* element = in + i * step;
    if (!isNan(*reinterpret_cast<const T*>(element))) {
      entries.push_back(entryOf<Entry, T>(element, i, false));
    } else if (!skips_nan) {
      return i;
    }
  }
  if (entries.empty()) return 0;
  const auto middle = entries.begin() + (static_cast<std::ptrdiff_t>(entries.size()) - 1) / 2;
  std::nth_element(entries.begin(), middle, entries.end());
  return middle->index();
}

void medianInto(std::string_view name, const Tensor& values, const Tensor& indices, const Tensor& self, size_t dim,
                bool skips_nan) {
  const int64_t count = lineLength(self, dim);
  const int64_t step = lineStep(self, dim);
  visitScalarType(kRealTypes, self.scalar_type(), name, [&]<class T>(std::type_identity<T>) {
    visitEntry<T>(count, [&]<class Entry>(std::type_identity<Entry>) {
      forEachLine(dim, {&self, &values, &indices}, [&](char* const* line) {
        const int64_t index = middleOf<T, Entry>(line[0], step, count, skips_nan);
        *reinterpret_cast<T*>(line[1]) = *reinterpret_cast<const T*>(line[0] + index * step);
        *reinterpret_cast<int64_t*>(line[2]) = index;
      });
    });
  });
}

// A tensor of [sizes] in place of one that has a dimension more of size 1.
Tensor seenAs(const Tensor& tensor, const DimVector& sizes) {
  DimVector strides(sizes.size(), boost::container::default_init);
  contiguousStrides(sizes, strides);
  return tensor.view(sizes, strides, 0);
}

template <bool skips_nan>
struct Median {
  static constexpr std::string_view kName = skips_nan ? "nanmedian" : "median";

  static std::tuple<Tensor, Tensor> overDim(const Tensor& self, int64_t dim, bool keepdim) {
    checkCpuOrMeta(self);
    shape::checkOrdered(kName, self);
    const int64_t along = wrapDimension(dim, self.dim());
    shape::checkLineNotEmpty(kName, self, along);
    const uint64_t mask = uint64_t{1} << along;
    const DimVector kept = shape::reducedSizes(self.sizes(), mask, /*keepdim=*/true);
    Tensor values = Tensor::allocate(kept, self.scalar_type(), self.device());
    Tensor indices = Tensor::allocate(kept, ScalarType::Long, self.device());
    if (!self.is_meta() && self.numel() > 0) {
      medianInto(kName, withDimension(values), withDimension(indices), withDimension(self), static_cast<size_t>(along),
                 skips_nan);
    }
    if (keepdim || self.dim() == 0) return {values, indices};
    const DimVector sizes = shape::reducedSizes(self.sizes(), mask, /*keepdim=*/false);
    return {seenAs(values, sizes), seenAs(indices, sizes)};
  }

  static std::tuple<Tensor&, Tensor&> out(const Tensor& self, int64_t dim, bool keepdim, Tensor& values,
                                          Tensor& indices) {
    return writeSameTypes(values, indices, overDim(self, dim, keepdim), {&self});
  }

  // Of no elements it is NaN.
  static Tensor all(const Tensor& self) {
    checkCpuOrMeta(self);
    shape::checkOrdered(kName, self);
    if (self.numel() > 0) {
      return std::get<0>(overDim(flattened(toContiguous(self)), 0, false));
    }
    Tensor result = Tensor::allocate({}, self.scalar_type(), self.device());
    if (!result.is_meta()) storeNumber(result.data_ptr(), self.scalar_type(), std::numeric_limits<double>::quiet_NaN());
    return result;
  }

 private:
  static Tensor flattened(const Tensor& tensor) {
    const int64_t sizes[] = {tensor.numel()};
    const int64_t strides[] = {1};
    return tensor.view(sizes, strides, tensor.storage_offset());
  }
};

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  m.impl("median", BOXCAR_FN(Median<false>::all));
  m.impl("median.dim", BOXCAR_FN(Median<false>::overDim));
  m.impl("median.dim_values", BOXCAR_FN(Median<false>::out));
  m.impl("nanmedian", BOXCAR_FN(Median<true>::all));
  m.impl("nanmedian.dim", BOXCAR_FN(Median<true>::overDim));
  m.impl("nanmedian.dim_values", BOXCAR_FN(Median<true>::out));
}

}  // namespace boxcar::cpu
