#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/triangles.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>

#include <string_view>

// Keeps the elements on one side of a diagonal and zeros the others.

namespace boxcar::native {

constinit DeviceStub<WriteTriangle> writeTriangle("tril");

namespace {

void write(const Tensor& out, const Tensor& self, int64_t diagonal, Triangle triangle) {
  if (out.is_meta() || out.numel() == 0) return;
  writeTriangle(out.device(), out, self, diagonal, triangle);
}

void checkMatrices(const Tensor& self, Triangle triangle) {
  checkDense(self);
  BOXCAR_CHECK(self.dim() >= 2, "{}: input tensor must have at least 2 dimensions, but it has {}",
               triangle == Triangle::kLower ? "tril" : "triu", self.dim());
}

template <Triangle triangle>
Tensor functional(const Tensor& self, int64_t diagonal) {
  checkMatrices(self, triangle);
  const Tensor result = Tensor::allocate(self.sizes(), self.scalar_type(), self.device());
  write(result, self, diagonal, triangle);
  return result;
}

template <Triangle triangle>
Tensor& inPlace(Tensor& self, int64_t diagonal) {
  checkMatrices(self, triangle);
  checkNoInternalOverlap(self);
  write(self, self, diagonal, triangle);
  return self;
}

template <Triangle triangle>
Tensor& out(const Tensor& self, int64_t diagonal, Tensor& out) {
  return writeSameType(out, functional<triangle>(self, diagonal), {}, Overlap::kAllowed);
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, writeTriangle) {
  m.impl("tril", BOXCAR_FN(functional<Triangle::kLower>));
  m.impl("tril_", BOXCAR_FN(inPlace<Triangle::kLower>));
  m.impl("tril.out", BOXCAR_FN(out<Triangle::kLower>));
  m.impl("triu", BOXCAR_FN(functional<Triangle::kUpper>));
  m.impl("triu_", BOXCAR_FN(inPlace<Triangle::kUpper>));
  m.impl("triu.out", BOXCAR_FN(out<Triangle::kUpper>));
}

}  // namespace boxcar::native
