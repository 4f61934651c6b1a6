#include <boxcar/backends/meta/indexing.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/gather.h>
#include <boxcar/backends/native/indexed_loop.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>

namespace boxcar::native {
namespace {

Tensor gather(const Tensor& self, int64_t dim, const Tensor& index, bool /*sparse_grad*/) {
  checkSameDevice({&self, &index});
  return gatherElements(self, meta::checkGather(self, dim, index), index);
}

Tensor& gatherOut(const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad, Tensor& out) {
  return writeSameType(out, native::gather(self, dim, index, sparse_grad), {&self, &index});
}

// Indices refer to elements in contiguous order.
Tensor take(const Tensor& self, const Tensor& index) {
  checkSameDevice({&self, &index});
  meta::checkTake(self, index);
  Tensor out = Tensor::allocate(index.sizes(), self.scalar_type(), self.device());
  if (out.is_meta() || out.numel() == 0) return out;
  const Tensor flat = toContiguous(self);
  const int64_t sizes[] = {self.numel()};
  const int64_t strides[] = {1};
  const Tensor places = toContiguous(index);
  const int64_t places_sizes[] = {places.numel()};
  const Tensor line = places.view(places_sizes, strides, places.storage_offset());
  IndexedLoop loop =
      loopAlong(out.view(places_sizes, strides, 0), flat.view(sizes, strides, flat.storage_offset()), line, 0);
  loop.name = "take";
  loop.wraps = true;
  readChosen(self.device(), loop, self.itemsize());
  return out;
}

Tensor& takeOut(const Tensor& self, const Tensor& index, Tensor& out) {
  return writeSameType(out, native::take(self, index), {&self, &index});
}

}  // namespace

Tensor gatherElements(const Tensor& self, int64_t dim, const Tensor& index) {
  Tensor out = Tensor::allocate(index.sizes(), self.scalar_type(), self.device());
  if (index.numel() == 0 || out.is_meta()) return out;
  const Tensor places = index.scalar_type() == ScalarType::Long ? index : convertTo(index, ScalarType::Long);
  const IndexedLoop loop = loopAlong(withDimension(out), withDimension(self), withDimension(places), dim);
  readChosen(self.device(), loop, self.itemsize());
  return out;
}

BOXCAR_NATIVE_KERNELS(aten, m, readChosen) {
  m.impl("gather", BOXCAR_FN(gather));
  m.impl("gather.out", BOXCAR_FN(gatherOut));
  m.impl("take", BOXCAR_FN(take));
  m.impl("take.out", BOXCAR_FN(takeOut));
}

}  // namespace boxcar::native
