#include <gtest/gtest.h>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

// A number that is stored as an element must fit; one that takes part in arithmetic wraps like an integer.
TEST(NumberRange, NumbersThatDoNotFitAreRefusedAndNothingIsWritten) {
  const std::string error = "value cannot be converted to type int8_t without overflow";
  Tensor x = zeros({2}, ScalarType::Char);
  const Tensor mask = ones({2}, ScalarType::Bool);
  const Tensor first = zeros({1}, ScalarType::Long);
  EXPECT_EQ(errorOf([&] { masked_fill_(x, mask, 300); }), error);
  EXPECT_EQ(errorOf([&] { masked_fill_(x, mask, scalar_tensor(300, ScalarType::Long)); }), error);
  EXPECT_EQ(errorOf([&] { index_fill_(x, 0, first, 300); }), error);
  EXPECT_EQ(errorOf([&] { scatter_(x, 0, first, -129); }), error);
  EXPECT_EQ(errorOf([&] { fill_(x, 1000); }), error);
  EXPECT_TRUE(equal(x, zeros({2}, ScalarType::Char)));
}

TEST(NumberRange, IsFloat16sOwn) {
  const std::string error = "value cannot be converted to type Half without overflow";
  Tensor x = zeros({2}, ScalarType::Half);
  EXPECT_EQ(errorOf([&] { fill_(x, 1e6); }), error);
  EXPECT_EQ(errorOf([&] { full({2}, -1e6, ScalarType::Half); }), error);
  EXPECT_EQ(errorOf([&] { masked_fill_(x, ones({2}, ScalarType::Bool), -1e9); }), error);
  EXPECT_TRUE(equal(x, zeros({2}, ScalarType::Half)));
}

}  // namespace
}  // namespace boxcar
