#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/meta/sorting.h>
#include <boxcar/backends/native/indexed_loop.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/sort.h>
#include <boxcar/backends/native/write_out.h>

#include <optional>
#include <tuple>

namespace boxcar::native {

constinit DeviceStub<SortLines> sortLines("sort");
constinit DeviceStub<ChooseFirst> chooseFirst("topk");

namespace {

using Pair = std::tuple<Tensor, Tensor>;
using PairOut = std::tuple<Tensor&, Tensor&>;

// The sort is always stable.
Pair sortStable(const Tensor& self, std::optional<bool> /*stable*/, int64_t dim, bool descending) {
  checkDense(self);
  meta::checkOrdered("sort", self);
  const auto along = static_cast<size_t>(wrapDimension(dim, self.dim()));
  const DimVector strides = meta::denseStrides(self);
  Tensor values = meta::allocateStrided(self.sizes(), strides, self.scalar_type(), self.device());
  Tensor indices = meta::allocateStrided(self.sizes(), strides, ScalarType::Long, self.device());
  if (self.numel() > 0 && !self.is_meta()) {
    sortLines(self.device(), withDimension(values), withDimension(indices), withDimension(self), along, descending);
  }
  return {values, indices};
}
Pair sort(const Tensor& self, int64_t dim, bool descending) { return sortStable(self, std::nullopt, dim, descending); }
PairOut sortStableOut(const Tensor& self, std::optional<bool> stable, int64_t dim, bool descending, Tensor& values,
                      Tensor& indices) {
  return writeSameTypes(values, indices, sortStable(self, stable, dim, descending), {&self}, Overlap::kSame);
}
PairOut sortOut(const Tensor& self, int64_t dim, bool descending, Tensor& values, Tensor& indices) {
  return sortStableOut(self, std::nullopt, dim, descending, values, indices);
}

Tensor& argsortOut(const Tensor& self, bool stable, int64_t dim, bool descending, Tensor& out) {
  return writeSameType(out, std::get<1>(sortStable(self, stable, dim, descending)), {}, Overlap::kAllowed);
}

// The result is always sorted; among equal elements, the least index comes first.
Pair topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool /*sorted*/) {
  checkDense(self);
  const DimVector sizes = meta::topkSizes(self, k, dim);
  Tensor values = Tensor::allocate(sizes, self.scalar_type(), self.device());
  Tensor indices = Tensor::allocate(sizes, ScalarType::Long, self.device());
  if (values.numel() > 0 && !self.is_meta()) {
    if (self.dim() == 0) k = 1;
    chooseFirst(self.device(), withDimension(values), withDimension(indices), withDimension(self),
                static_cast<size_t>(dim), k, largest);
  }
  return {values, indices};
}
PairOut topkOut(const Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted, Tensor& values,
                Tensor& indices) {
  return writeSameTypes(values, indices, native::topk(self, k, dim, largest, sorted), {&self}, Overlap::kSame);
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, sortLines, chooseFirst) {
  m.impl("sort", BOXCAR_FN(sort));
  m.impl("sort.stable", BOXCAR_FN(sortStable));
  m.impl("sort.values", BOXCAR_FN(sortOut));
  m.impl("sort.values_stable", BOXCAR_FN(sortStableOut));
  m.impl("argsort.stable_out", BOXCAR_FN(argsortOut));
  m.impl("topk", BOXCAR_FN(topk));
  m.impl("topk.values", BOXCAR_FN(topkOut));
}

}  // namespace boxcar::native
