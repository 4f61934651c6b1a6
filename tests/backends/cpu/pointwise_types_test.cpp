#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>

#include "tests/backends/tensor_helpers.h"

// Every element type in every layout for which the engine has a path, compared with computing one element at a time.

namespace boxcar {
namespace {

constexpr auto kNumberTypes = kRealTypes + kComplexTypes;

class PointwiseTypes : public testing::TestWithParam<ScalarType> {
 protected:
  // Returns small whole numbers, which all types can hold.
  Tensor make(IntArrayRef sizes) const {
    return to(add(remainder(counting(sizes, ScalarType::Long), 7), 1), GetParam());
  }

  void expectSums(const Tensor& a, const Tensor& b) const {
    const Tensor sum = add(a, b);
    ASSERT_EQ(sum.scalar_type(), GetParam());
    const Tensor wide_a = contiguous(expand(to(a, ScalarType::Long), sum.sizes()));
    const Tensor wide_b = contiguous(expand(to(b, ScalarType::Long), sum.sizes()));
    const std::vector<int64_t> found = elements<int64_t>(to(sum, ScalarType::Long));
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i], wide_a.data_ptr<int64_t>()[i] + wide_b.data_ptr<int64_t>()[i]) << "element " << i;
    }
  }
};

TEST_P(PointwiseTypes, Contiguous) { expectSums(make({3, 37}), make({3, 37})); }
TEST_P(PointwiseTypes, WithANumber) {
  const Tensor x = make({3, 5});
  expectSums(x, select(view(make({4}), {4}), 0, 2));
  EXPECT_TRUE(equal(add(x, 2), add(x, full({3, 5}, 2, GetParam()))));
}
TEST_P(PointwiseTypes, Broadcast) {
  expectSums(make({3, 1}), make({19}));
  expectSums(make({1, 19}), make({3, 19}));
  expectSums(make({2, 1, 4}), make({3, 1}));
}
TEST_P(PointwiseTypes, Strided) {
  expectSums(t(make({4, 6})), make({6, 4}));
  expectSums(slice(make({4, 6}), 1, 0, 6, 2), slice(make({4, 7}), 1, 1, 7, 2));
  expectSums(permute(make({2, 3, 4}), {2, 0, 1}), make({4, 2, 3}));
}
TEST_P(PointwiseTypes, Empty) {
  EXPECT_EQ(sizesOf(add(make({0, 3}), make({3}))), (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(sizesOf(mul(make({2, 0}), 2)), (std::vector<int64_t>{2, 0}));
}
TEST_P(PointwiseTypes, Compares) {
  const Tensor x = make({3, 5});
  EXPECT_EQ(item(sum(eq(x, x))).toLong(), 15);
  EXPECT_EQ(item(sum(ne(t(x), t(x)))).toLong(), 0);
}
TEST_P(PointwiseTypes, Copies) {
  const Tensor x = make({3, 4});
  EXPECT_TRUE(equal(clone(t(x)), t(x)));
  for (const ScalarType other : {ScalarType::Float, ScalarType::Long, ScalarType::ComplexDouble, ScalarType::Byte}) {
    EXPECT_TRUE(equal(to(to(t(x), other), GetParam()), t(x)));
  }
}

template <class... Ts>
auto valuesOf(ElementTypes<Ts...>) {
  return testing::Values(scalarTypeOf<Ts>...);
}

INSTANTIATE_TEST_SUITE_P(AllTypes, PointwiseTypes, valuesOf(kNumberTypes),
                         [](const auto& given) { return std::string(toString(given.param)); });

}  // namespace
}  // namespace boxcar
