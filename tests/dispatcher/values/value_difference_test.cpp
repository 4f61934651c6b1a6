#include <boxcar/dispatcher/values/value_difference.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace boxcar {
namespace {

std::string compare(const IValue& expected, const IValue& found, Tolerance tolerance = {}) {
  return differenceOf(expected, found, tolerance, {"before", "now"}).value_or("alike");
}

Tensor floats(std::vector<float> values) {
  const Tensor tensor = Tensor::allocate(std::vector{static_cast<int64_t>(values.size())}, ScalarType::Float);
  std::copy(values.begin(), values.end(), tensor.data_ptr<float>());
  return tensor;
}

TEST(ValueDifference, NamesTheLargestDifferenceAndItsPlace) {
  Tensor found = ones({2, 3});
  found.data_ptr<float>()[1] = 1.25F;
  found.data_ptr<float>()[5] = 0.5F;
  EXPECT_EQ(compare(ones({2, 3}), ones({2, 3})), "alike");
  EXPECT_EQ(compare(ones({2, 3}), found), "2 of 6 elements differ, by up to 0.5 at [1, 2]: 1 before, 0.5 now");
  EXPECT_EQ(compare(ones({2, 3}), found, {.atol = 0.25}),
            "1 of 6 elements differs, by 0.5 at [1, 2]: 1 before, 0.5 now");
  EXPECT_EQ(compare(ones({2, 3}), found, {.rtol = 0.5}), "alike");
  EXPECT_EQ(compare(ones({2, 3}), found, {.compares_elements = false}), "alike");
}

TEST(ValueDifference, TakesNanForNanAndTheSignOfZeroForWhatItIs) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(compare(floats({nan, inf}), floats({-nan, inf})), "alike");
  EXPECT_EQ(compare(floats({0.0F}), floats({-0.0F})), "1 of 1 elements differs, by 0.0 at [0]: 0 before, -0 now");
  EXPECT_EQ(compare(floats({0.0F}), floats({-0.0F}), {.atol = 1e-9}), "alike");
  EXPECT_EQ(compare(floats({nan}), floats({1}), {.rtol = 1, .atol = 1}),
            "1 of 1 elements differs, by more than any number at [0]: nan before, 1 now");
  EXPECT_EQ(compare(floats({inf}), floats({-inf}), {.atol = 1}),
            "1 of 1 elements differs, by more than any number at [0]: inf before, -inf now");
}

TEST(ValueDifference, GivesIntegersNoTolerance) {
  const Tensor threes = full({2}, 3, ScalarType::Long);
  EXPECT_EQ(compare(threes, full({2}, 4, ScalarType::Long), {.rtol = 1, .atol = 1}),
            "2 of 2 elements differ, by up to 1.0 at [0]: 3 before, 4 now");
  EXPECT_EQ(compare(3, 4, {.atol = 1}), "3 before, 4 now");
  EXPECT_EQ(compare(3.0, 4.0, {.atol = 1}), "alike");
  EXPECT_EQ(compare(true, false), "True before, False now");
}

TEST(ValueDifference, ComparesShapesAndDtypesButNotStrides) {
  EXPECT_EQ(compare(ones({2, 3}), ones({3, 2})), "float32[2, 3] before, float32[3, 2] now");
  EXPECT_EQ(compare(ones({2}), ones({2}, ScalarType::Half)), "float32[2] before, float16[2] now");
  EXPECT_EQ(compare(t(ones({2, 3})), ones({3, 2})), "alike");
  EXPECT_EQ(compare(Tensor(), ones({1})), "undefined before, float32[1] now");
  EXPECT_EQ(compare(Tensor(), Tensor()), "alike");
}

TEST(ValueDifference, GoesIntoContainers) {
  const List<Tensor> tensors{ones({1}), ones({1})};
  const List<Tensor> others{ones({1}), zeros({1})};
  EXPECT_EQ(compare(tensors, others), "[1]: 1 of 1 elements differs, by 1.0 at [0]: 1 before, 0 now");
  EXPECT_EQ(compare(std::vector<int64_t>{1, 2}, std::vector<int64_t>{1}), "2 values before, 1 now");
  Dict<std::string, double> dict;
  dict.insert("a", 1);
  Dict<std::string, double> other = dict.copy();
  other.insert_or_assign("a", 2);
  EXPECT_EQ(compare(dict, other), "['a']: 1.0 before, 2.0 now");
  other.insert("b", 3);
  EXPECT_EQ(compare(dict, other), "the key 'b' is there only now");
  EXPECT_EQ(compare(std::tuple(1, std::string("x")), std::tuple(1, std::string("y"))), "[1]: 'x' before, 'y' now");
  EXPECT_EQ(compare(1, 1.5), "1 before, 1.5 now");
  EXPECT_EQ(compare(1, ones({1})), "1 before, Tensor now");
}

TEST(ValueDifference, LooksAtComplexPartsOneByOne) {
  const std::complex<double> a(1, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(compare(a, a), "alike");
  EXPECT_EQ(compare(std::complex<double>(1, 2), std::complex<double>(1, 3)), "(1+2j) before, (1+3j) now");
  EXPECT_EQ(compare(std::complex<double>(1, 2), std::complex<double>(1, 3), {.atol = 1}), "alike");
}

}  // namespace
}  // namespace boxcar
