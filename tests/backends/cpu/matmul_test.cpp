#include <gtest/gtest.h>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

// The product by definition, element by element.
Tensor productOf(const Tensor& a, const Tensor& b) {
  return sum(mul(unsqueeze(a, -1), unsqueeze(b, -3)), IntArrayRef{-2}, false, a.scalar_type());
}

// Whole numbers, so that every order of summation gives the same.
Tensor wholeNumbers(IntArrayRef sizes, ScalarType dtype, int64_t seed) {
  return to(sub(remainder(add(mul(counting(sizes, ScalarType::Long), 7), seed), 11), 5), dtype);
}

TEST(Mm, MultipliesMatrices) {
  EXPECT_EQ(toString(mm(counting({2, 3}), counting({3, 2}))), "tensor([[10., 13.],\n        [28., 40.]])");
  EXPECT_EQ(toString(callBoxed("aten::mm", counting({1, 2}), counting({2, 1})).toTensor()), "tensor([[1.]])");
}

TEST(Mm, AllSizesAroundTheBlocks) {
  for (const ScalarType dtype : {ScalarType::Float, ScalarType::Double}) {
    for (const int64_t m : {1, 2, 3, 4, 5, 7, 12, 13, 17, 50, 100}) {
      for (const int64_t k : {1, 2, 9, 33, 260}) {
        for (const int64_t n : {1, 2, 3, 4, 8, 15, 16, 17, 33, 70}) {
          if (m * n * k > 60000) continue;
          const Tensor a = wholeNumbers({m, k}, dtype, m);
          const Tensor b = wholeNumbers({k, n}, dtype, n);
          ASSERT_TRUE(equal(mm(a, b), productOf(a, b))) << m << " " << k << " " << n;
        }
      }
    }
  }
}

TEST(Mm, ReadsAnyStrides) {
  const Tensor a = wholeNumbers({20, 30}, ScalarType::Float, 1);
  const Tensor b = wholeNumbers({20, 25}, ScalarType::Float, 2);
  EXPECT_TRUE(equal(mm(t(a), b), productOf(t(a), b)));
  EXPECT_TRUE(equal(mm(t(b), a), productOf(t(b), a)));
  const Tensor c = slice(a, 1, 0, 30, 3);
  EXPECT_TRUE(equal(mm(t(b), c), productOf(t(b), c)));
  EXPECT_TRUE(equal(mm(t(c), slice(b, 1, 1, 25, 2)), productOf(t(c), slice(b, 1, 1, 25, 2))));
  const Tensor row = expand(wholeNumbers({1, 20}, ScalarType::Float, 3), {3, 20});
  EXPECT_TRUE(equal(mm(row, b), productOf(row, b)));
}

// Each row is the previous one shifted by one element; oneDNN does not support such strides.
TEST(Mm, ReadsElementsThatOverlap) {
  for (const ScalarType dtype : {ScalarType::Float, ScalarType::BFloat16}) {
    const Tensor a = as_strided(wholeNumbers({8}, dtype, 1), IntArrayRef{4, 3}, IntArrayRef{1, 1});
    const Tensor b = wholeNumbers({3, 5}, dtype, 2);
    EXPECT_TRUE(equal(mm(a, b), mm(clone(a, MemoryFormat::Contiguous), b)));
    const Tensor batch = expand(a, {2, 4, 3});
    EXPECT_TRUE(equal(select(bmm(batch, stack(std::vector<Tensor>{b, b}, 0)), 0, 0), mm(a, b)));
  }
}

TEST(Mm, TakesEveryNumberType) {
  for (const ScalarType dtype : {ScalarType::Byte, ScalarType::Int, ScalarType::Long, ScalarType::Half,
                                 ScalarType::BFloat16, ScalarType::ComplexFloat, ScalarType::ComplexDouble}) {
    const Tensor a = to(counting({3, 4}, ScalarType::Long), dtype);
    const Tensor b = to(counting({4, 2}, ScalarType::Long), dtype);
    const Tensor expected = mm(counting({3, 4}, ScalarType::Double), counting({4, 2}, ScalarType::Double));
    EXPECT_TRUE(equal(mm(a, b), to(expected, dtype))) << toString(dtype);
  }
  EXPECT_EQ(errorOf([] {
              mm(ones({2, 2}, ScalarType::Bool), ones({2, 2}, ScalarType::Bool));
            }),
            "mm does not take dtype bool; it takes uint8, int8, int16, int32, int64, float16, bfloat16, float32, "
            "float64, complex64 or complex128");
}

TEST(Mm, OfNothingIsZero) {
  EXPECT_EQ(toString(mm(zeros({2, 0}), zeros({0, 2}))), "tensor([[0., 0.],\n        [0., 0.]])");
  EXPECT_EQ(shapeText(mm(zeros({0, 3}), zeros({3, 2}))), "float32[0, 2]");
}

TEST(Mm, NamesSizesThatDoNotMatch) {
  EXPECT_EQ(errorOf([] {
              mm(zeros({2, 3}), zeros({4, 5}));
            }),
            "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)");
  EXPECT_EQ(errorOf([] { mm(zeros({2}), zeros({2, 5})); }), "self must be a matrix, got a 1-D tensor");
  EXPECT_EQ(errorOf([] { mm(zeros({2, 2}), zeros({2})); }), "mat2 must be a matrix, got a 1-D tensor");
  EXPECT_EQ(errorOf([] {
              mm(zeros({2, 2}), zeros({2, 2}, ScalarType::Double));
            }),
            "expected m1 and m2 to have the same dtype, but got: float32 != float64");
}

TEST(Addmm, ScalesAndBroadcasts) {
  const Tensor a = wholeNumbers({5, 20}, ScalarType::Float, 1);
  const Tensor b = wholeNumbers({20, 40}, ScalarType::Float, 2);
  const Tensor bias = wholeNumbers({40}, ScalarType::Float, 3);
  const Tensor product = mm(a, b);
  EXPECT_TRUE(equal(addmm(bias, a, b), add(product, bias)));
  EXPECT_TRUE(equal(addmm(bias, a, b, 2, 3), add(mul(product, 3), mul(bias, 2))));
  EXPECT_TRUE(equal(addmm(full({40}, std::numeric_limits<double>::quiet_NaN()), a, b, 0, 1), product));
  Tensor x = ones({5, 40});
  addmm_(x, a, b);
  EXPECT_TRUE(equal(x, add(product, 1)));
  Tensor out = zeros({0});
  addmm_out(out, bias, a, b);
  EXPECT_TRUE(equal(out, add(product, bias)));
  EXPECT_EQ(
      errorOf([&] {
        addmm(zeros({4}), zeros({2, 3}), zeros({3, 5}));
      }),
      "The expanded size of the tensor (5) must match the existing size (4) at non-singleton dimension 1.  Target "
      "sizes: [2, 5].  Tensor sizes: [4]");
}

TEST(Bmm, MultipliesEachPair) {
  const Tensor a = wholeNumbers({3, 4, 5}, ScalarType::Float, 1);
  const Tensor b = wholeNumbers({3, 5, 2}, ScalarType::Float, 2);
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(equal(select(bmm(a, b), 0, i), mm(select(a, 0, i), select(b, 0, i))));
  }
  EXPECT_EQ(errorOf([&] {
              bmm(a, zeros({2, 5, 2}));
            }),
            "Expected size for first two dimensions of batch2 tensor to be: [3, 5] but got: [2, 5].");
}

TEST(DotAndMv, MultiplyVectors) {
  EXPECT_EQ(toString(dot(floats({1, 2, 3}), floats({4, 5, 6}))), "tensor(32.)");
  EXPECT_EQ(toString(dot(ints({1, 2}), ints({3, 4}))), "tensor(11)");
  EXPECT_EQ(toString(mv(counting({2, 3}), floats({1, 1, 2}))), "tensor([ 5., 17.])");
  EXPECT_EQ(
      errorOf([] { dot(zeros({4}), zeros({3})); }),
      "inconsistent tensor size, expected tensor [4] and src [3] to have the same number of elements, but got 4 and "
      "3 elements respectively");
  EXPECT_EQ(errorOf([] { mv(zeros({2, 3}), zeros({4})); }), "size mismatch, got input (2), mat (2x3), vec (4)");
}

TEST(Matmul, TakesVectorsMatricesAndBatches) {
  const Tensor a = wholeNumbers({2, 3, 4}, ScalarType::Float, 1);
  const Tensor b = wholeNumbers({2, 4, 5}, ScalarType::Float, 2);
  const Tensor v = wholeNumbers({4}, ScalarType::Float, 3);
  const Tensor w = wholeNumbers({4, 5}, ScalarType::Float, 4);
  EXPECT_TRUE(equal(matmul(a, b), bmm(a, b)));
  EXPECT_TRUE(equal(matmul(a, w), bmm(a, expand(w, {2, 4, 5}))));
  EXPECT_TRUE(equal(select(matmul(a, v), 0, 1), mv(select(a, 0, 1), v)));
  EXPECT_TRUE(equal(matmul(v, w), mv(t(w), v)));
  EXPECT_EQ(shapeText(matmul(v, b)), "float32[2, 5]");
  EXPECT_EQ(shapeText(matmul(v, v)), "float32[]");
  EXPECT_EQ(shapeText(matmul(zeros({7, 1, 3, 4}), b)), "float32[7, 2, 3, 5]");
  EXPECT_EQ(errorOf([] { matmul(scalar_tensor(1), zeros({3})); }),
            "both arguments to matmul need to be at least 1D, but they are 0D and 1D");
  EXPECT_EQ(errorOf([] {
              matmul(zeros({2, 3, 4}), zeros({3, 4, 5}));
            }),
            "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0");
}

TEST(Linear, AddsTheBias) {
  const Tensor input = wholeNumbers({3, 4}, ScalarType::Float, 1);
  const Tensor weight = wholeNumbers({5, 4}, ScalarType::Float, 2);
  const Tensor bias = wholeNumbers({5}, ScalarType::Float, 3);
  EXPECT_TRUE(equal(linear(input, weight, bias), add(mm(input, t(weight)), bias)));
  EXPECT_TRUE(equal(linear(input, weight), mm(input, t(weight))));
  EXPECT_EQ(shapeText(linear(zeros({2, 3, 4}), weight, bias)), "float32[2, 3, 5]");
  EXPECT_EQ(shapeText(linear(zeros({4}), weight, bias)), "float32[5]");
  EXPECT_EQ(errorOf([&] { linear(zeros({2, 3}), weight); }), "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)");
}

}  // namespace
}  // namespace boxcar
