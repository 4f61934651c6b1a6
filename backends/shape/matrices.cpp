#include <boxcar/backends/shape/matrices.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

namespace boxcar::shape {
namespace {

void checkSameType(const Tensor& a, const Tensor& b) {
  BOXCAR_CHECK(a.scalar_type() == b.scalar_type(), "expected m1 and m2 to have the same dtype, but got: {} != {}",
               dtypeName(a.scalar_type()), dtypeName(b.scalar_type()));
}

void checkInnerSizes(const Tensor& a, const Tensor& b) {
  BOXCAR_CHECK(a.sizes()[1] == b.sizes()[0], "mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})",
               a.sizes()[0], a.sizes()[1], b.sizes()[0], b.sizes()[1]);
}

}  // namespace

void checkMm(const Tensor& self, const Tensor& mat2) {
  BOXCAR_CHECK(self.dim() == 2, "self must be a matrix, got a {}-D tensor", self.dim());
  BOXCAR_CHECK(mat2.dim() == 2, "mat2 must be a matrix, got a {}-D tensor", mat2.dim());
  checkInnerSizes(self, mat2);
  checkSameType(self, mat2);
}

void checkAddmm(const Tensor& mat1, const Tensor& mat2) {
  BOXCAR_CHECK(mat1.dim() == 2, "mat1 must be a matrix, got {}-D tensor", mat1.dim());
  BOXCAR_CHECK(mat2.dim() == 2, "mat2 must be a matrix, got {}-D tensor", mat2.dim());
  checkInnerSizes(mat1, mat2);
  checkSameType(mat1, mat2);
}

void checkBmm(const Tensor& self, const Tensor& mat2) {
  BOXCAR_CHECK(self.dim() == 3, "batch1 must be a 3D tensor, got a {}-D tensor", self.dim());
  BOXCAR_CHECK(mat2.dim() == 3, "batch2 must be a 3D tensor, got a {}-D tensor", mat2.dim());
  BOXCAR_CHECK(self.sizes()[0] == mat2.sizes()[0] && self.sizes()[2] == mat2.sizes()[1],
               "Expected size for first two dimensions of batch2 tensor to be: [{}, {}] but got: [{}, {}].",
               self.sizes()[0], self.sizes()[2], mat2.sizes()[0], mat2.sizes()[1]);
  checkSameType(self, mat2);
}

void checkMv(const Tensor& self, const Tensor& vec) {
  BOXCAR_CHECK(self.dim() == 2 && vec.dim() == 1, "vector + matrix @ vector expected, got 1, {}, {}", self.dim(),
               vec.dim());
  BOXCAR_CHECK(self.sizes()[1] == vec.sizes()[0], "size mismatch, got input ({}), mat ({}x{}), vec ({})",
               self.sizes()[0], self.sizes()[0], self.sizes()[1], vec.sizes()[0]);
  checkSameType(self, vec);
}

void checkDot(const Tensor& self, const Tensor& tensor) {
  BOXCAR_CHECK(self.dim() == 1 && tensor.dim() == 1, "1D tensors expected, but got {}D and {}D tensors", self.dim(),
               tensor.dim());
  BOXCAR_CHECK(self.scalar_type() == tensor.scalar_type(),
               "dot : expected both vectors to have same dtype, but found {} and {}", dtypeName(self.scalar_type()),
               dtypeName(tensor.scalar_type()));
  BOXCAR_CHECK(self.numel() == tensor.numel(),
               "inconsistent tensor size, expected tensor [{}] and src [{}] to have the same number of elements, but "
               "got {} and {} elements respectively",
               self.numel(), tensor.numel(), self.numel(), tensor.numel());
}

}  // namespace boxcar::shape
