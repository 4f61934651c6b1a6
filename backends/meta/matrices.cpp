#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/matrices.h>
#include <boxcar/backends/meta/promotion.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>

namespace boxcar::meta {
namespace {

void checkSameType(const Tensor& a, const Tensor& b) {
  BOXCAR_CHECK(a.scalar_type() == b.scalar_type(), "expected m1 and m2 to have the same dtype, but got: {} != {}",
               dtypeName(a.scalar_type()), dtypeName(b.scalar_type()));
}

void checkInnerSizes(const Tensor& a, const Tensor& b) {
  BOXCAR_CHECK(a.sizes()[1] == b.sizes()[0], "mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})",
               a.sizes()[0], a.sizes()[1], b.sizes()[0], b.sizes()[1]);
}

void checkSelfType(const Tensor& self, const Tensor& factor, std::string_view name) {
  BOXCAR_CHECK(self.scalar_type() == factor.scalar_type(), "self and {} must have the same dtype, but got {} and {}",
               name, self.scalar_type(), factor.scalar_type());
}

// Throws Error if a result of [type] cannot be scaled by [number]: a fraction for integers, a bool for a type other
// than bool, or a complex number for a real type.
void checkScale(std::string_view name, const Scalar& number, ScalarType type) {
  BOXCAR_CHECK(!number.isBoolean() || type == ScalarType::Bool,
               "Boolean {} only supported for Boolean results, but the result is of {}", name, type);
  BOXCAR_CHECK(isFloatingType(type) || isComplexType(type) || number.isBoolean() || number.isIntegral(false),
               "For integral input tensors, argument {} must not be a floating point number.", name);
  BOXCAR_CHECK(isComplexType(type) || !number.isComplex(),
               "For non-complex input tensors, argument {} must not be a complex number.", name);
}

}  // namespace

void checkMm(const Tensor& self, const Tensor& mat2) {
  BOXCAR_CHECK(self.dim() == 2, "self must be a matrix, got a {}-D tensor", self.dim());
  BOXCAR_CHECK(mat2.dim() == 2, "mat2 must be a matrix, got a {}-D tensor", mat2.dim());
  checkInnerSizes(self, mat2);
  checkSameType(self, mat2);
}

void checkAddmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2) {
  BOXCAR_CHECK(mat1.dim() == 2, "mat1 must be a matrix, got {}-D tensor", mat1.dim());
  BOXCAR_CHECK(mat2.dim() == 2, "mat2 must be a matrix, got {}-D tensor", mat2.dim());
  checkInnerSizes(mat1, mat2);
  checkSameType(mat1, mat2);
  checkSelfType(self, mat2, "mat2");
}

void checkBmm(const Tensor& batch1, const Tensor& batch2) {
  BOXCAR_CHECK(batch1.dim() == 3, "batch1 must be a 3D tensor, got a {}-D tensor", batch1.dim());
  BOXCAR_CHECK(batch2.dim() == 3, "batch2 must be a 3D tensor, got a {}-D tensor", batch2.dim());
  BOXCAR_CHECK(batch1.sizes()[0] == batch2.sizes()[0] && batch1.sizes()[2] == batch2.sizes()[1],
               "Expected size for first two dimensions of batch2 tensor to be: [{}, {}] but got: [{}, {}].",
               batch1.sizes()[0], batch1.sizes()[2], batch2.sizes()[0], batch2.sizes()[1]);
  checkSameType(batch1, batch2);
}

void checkBaddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2) {
  checkBmm(batch1, batch2);
  checkSelfType(self, batch2, "batch2");
}

void checkMv(const Tensor& self, const Tensor& vec) {
  BOXCAR_CHECK(self.dim() == 2 && vec.dim() == 1, "vector + matrix @ vector expected, got 1, {}, {}", self.dim(),
               vec.dim());
  BOXCAR_CHECK(self.sizes()[1] == vec.sizes()[0], "size mismatch, got input ({}), mat ({}x{}), vec ({})",
               self.sizes()[0], self.sizes()[0], self.sizes()[1], vec.sizes()[0]);
  checkSameType(self, vec);
}

void checkAddmv(const Tensor& self, const Tensor& mat, const Tensor& vec) {
  BOXCAR_CHECK(mat.dim() == 2 && vec.dim() == 1 && self.dim() <= 1, "vector + matrix @ vector expected, got {}, {}, {}",
               self.dim(), mat.dim(), vec.dim());
  const int64_t rows = mat.sizes()[0];
  BOXCAR_CHECK(mat.sizes()[1] == vec.sizes()[0] && (self.numel() == rows || self.numel() == 1),
               "size mismatch, got input ({}), mat ({}x{}), vec ({})", self.numel(), rows, mat.sizes()[1],
               vec.sizes()[0]);
  checkSameType(mat, vec);
  checkSelfType(self, vec, "vec");
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

void checkAddr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) {
  BOXCAR_CHECK(vec1.dim() == 1, "addr: Expected 1-D argument vec1, but got {}-D", vec1.dim());
  BOXCAR_CHECK(vec2.dim() == 1, "addr: Expected 1-D argument vec2, but got {}-D", vec2.dim());
  const int64_t sizes[] = {vec1.sizes()[0], vec2.sizes()[0]};
  expandTo(self, sizes);
  TypePromotion types;
  for (const Tensor* tensor : {&self, &vec1, &vec2}) types.add(*tensor);
  checkScale("beta", beta, types.result());
  checkScale("alpha", alpha, types.result());
}

DimVector checkCross(const Tensor& self, const Tensor& other, int64_t dim) {
  BOXCAR_CHECK(self.dim() == other.dim(),
               "linalg.cross: inputs must have the same number of dimensions, but they have {} and {}", self.dim(),
               other.dim());
  BOXCAR_CHECK(self.scalar_type() == other.scalar_type(),
               "linalg.cross: expected other to be of {} as self is, but found {}", self.scalar_type(),
               other.scalar_type());
  const int64_t along = wrapDimension(dim, self.dim());
  BOXCAR_CHECK(self.dim() > 0 && self.size(along) == 3 && other.size(along) == 3,
               "linalg.cross: inputs dimension {} must have length 3. Got {} and {}", dim,
               self.dim() > 0 ? self.size(along) : 1, other.dim() > 0 ? other.size(along) : 1);
  return broadcast(self.sizes(), other.sizes());
}

Distances checkCdist(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
  BOXCAR_CHECK(x1.is_floating_point(), "cdist only supports floating-point dtypes, X1 got: {}", x1.scalar_type());
  BOXCAR_CHECK(x2.is_floating_point(), "cdist only supports floating-point dtypes, X2 got: {}", x2.scalar_type());
  BOXCAR_CHECK(x1.scalar_type() == x2.scalar_type(), "cdist: X1 and X2 must have the same dtype, but got {} and {}",
               x1.scalar_type(), x2.scalar_type());
  BOXCAR_CHECK(x1.dim() >= 2, "cdist only supports at least 2D tensors, X1 got: {}D", x1.dim());
  BOXCAR_CHECK(x2.dim() >= 2, "cdist only supports at least 2D tensors, X2 got: {}D", x2.dim());
  BOXCAR_CHECK(x1.sizes().back() == x2.sizes().back(), "X1 and X2 must have the same number of columns. X1: {} X2: {}",
               x1.sizes().back(), x2.sizes().back());
  BOXCAR_CHECK(p >= 0, "cdist only supports non-negative p values, but p is {}", p);
  const int64_t mode = compute_mode.value_or(0);
  BOXCAR_CHECK(mode >= 0 && mode <= 2, "possible modes: 0, 1, 2, but was: {}", mode);
  const auto rows1 = x1.sizes().last(2);
  const auto rows2 = x2.sizes().last(2);
  const auto batchOf = [](const Tensor& x) { return x.sizes().first(static_cast<size_t>(x.dim() - 2)); };
  const DimVector batch = broadcast(batchOf(x1), batchOf(x2));
  const auto extended = [&](int64_t rows, int64_t columns) {
    DimVector sizes = batch;
    sizes.push_back(rows);
    sizes.push_back(columns);
    return sizes;
  };
  // With many rows, the speed of a product is worth the lost precision.
  constexpr int64_t kManyRows = 25;
  const bool by_product = p == 2 && (mode == 1 || (mode == 0 && (rows1[0] > kManyRows || rows2[0] > kManyRows)));
  return {extended(rows1[0], rows1[1]), extended(rows2[0], rows2[1]), extended(rows1[0], rows2[0]), by_product};
}

void checkInPlaceSizes(std::string_view name, const Tensor& self, std::span<const int64_t> sizes) {
  BOXCAR_CHECK(std::ranges::equal(self.sizes(), sizes),
               "{}: Bad in-place call: input tensor size [{}] and output tensor size [{}] should match", name,
               fmt::join(self.sizes(), ", "), fmt::join(sizes, ", "));
}

}  // namespace boxcar::meta
