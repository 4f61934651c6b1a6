#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Pointwise, AddsTensorsOfOneShape) {
  EXPECT_EQ(toString(add(floats({1, 2}), floats({3, 4.5}))), "tensor([4.0000, 6.5000])");
}

TEST(Pointwise, IsTheSameBoxed) {
  const IValue sum = callBoxed("aten::add.Tensor", floats({1, 2}), floats({3, 4}), 2);
  EXPECT_EQ(elements<float>(sum.toTensor()), (std::vector<float>{7, 10}));
}

TEST(Pointwise, BroadcastsFromTheLastDimension) {
  const Tensor column = floats({10, 20}, {2, 1});
  EXPECT_EQ(toString(add(column, floats({1, 2, 3}))), "tensor([[11., 12., 13.],\n        [21., 22., 23.]])");
  EXPECT_EQ(shapeText(add(zeros({4, 1, 3}), zeros({2, 1}))), "float32[4, 2, 3]");
  EXPECT_EQ(shapeText(add(zeros({0, 3}), zeros({1}))), "float32[0, 3]");
  EXPECT_EQ(shapeText(add(zeros({1, 0}), zeros({5, 1}))), "float32[5, 0]");
}

TEST(Pointwise, NamesSizesThatDoNotBroadcast) {
  EXPECT_EQ(errorOf([] { add(zeros({3}), zeros({4})); }),
            "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 0");
  EXPECT_EQ(errorOf([] {
              mul(zeros({2, 3, 4}), zeros({2, 4}));
            }),
            "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1");
}

TEST(Pointwise, ReadsStridedInputs) {
  const Tensor x = counting({3, 4});
  const Tensor every_second = slice(x, 1, 1, std::nullopt, 2);
  EXPECT_EQ(elements<float>(add(every_second, every_second)), (std::vector<float>{2, 6, 10, 14, 18, 22}));
  EXPECT_EQ(elements<float>(add(t(x), t(x))), (std::vector<float>{0, 8, 16, 2, 10, 18, 4, 12, 20, 6, 14, 22}));
  const Tensor wide = counting({2, 3, 4, 5});
  const Tensor permuted = permute(wide, {3, 1, 0, 2});
  const Tensor sum = add(permuted, full({1, 3, 1, 4}, 0.5));
  ASSERT_EQ(sizesOf(sum), (std::vector<int64_t>{5, 3, 2, 4}));
  for (int64_t i = 0; i < 5; ++i) {
    const Tensor expected = add(select(wide, 3, i), 0.5);
    EXPECT_TRUE(equal(permute(select(sum, 0, i), {1, 0, 2}), expected)) << i;
  }
}

TEST(Pointwise, ResultLiesInMemoryAsTheInputsDo) {
  const Tensor x = t(counting({3, 4}));
  EXPECT_EQ(stridesOf(neg(x)), (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(stridesOf(add(x, x)), (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(stridesOf(add(x, counting({4, 3}))), (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(stridesOf(add(x, counting({3}))), (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(stridesOf(neg(expand(floats({1, 2, 3}), {2, 3}))), (std::vector<int64_t>{3, 1}));
}

TEST(Pointwise, AllOverlapsOfVectorsAndTailsAgree) {
  for (int64_t n = 0; n < 70; ++n) {
    const Tensor a = counting({n});
    const Tensor sum = add(a, mul(a, 2));
    for (int64_t i = 0; i < n; ++i) EXPECT_EQ(sum.data_ptr<float>()[i], 3.0f * static_cast<float>(i));
  }
}

TEST(Promotion, DimensionsDecideBeforeNumbersOfTheSameKind) {
  const Tensor small = ones({2}, ScalarType::Short);
  EXPECT_EQ(add(small, 5).scalar_type(), ScalarType::Short);
  EXPECT_EQ(add(small, 5.5).scalar_type(), ScalarType::Float);
  EXPECT_EQ(add(small, ints({1, 2})).scalar_type(), ScalarType::Long);
  EXPECT_EQ(add(small, scalar_tensor(1, ScalarType::Long)).scalar_type(), ScalarType::Short);
  EXPECT_EQ(add(small, scalar_tensor(1.5, ScalarType::Double)).scalar_type(), ScalarType::Double);
  EXPECT_EQ(add(ones({2}, ScalarType::Half), 1.5).scalar_type(), ScalarType::Half);
  EXPECT_EQ(add(ones({2}, ScalarType::Half), scalar_tensor(1.0, ScalarType::Double)).scalar_type(), ScalarType::Half);
  EXPECT_EQ(add(ones({2}, ScalarType::Half), ones({2}, ScalarType::BFloat16)).scalar_type(), ScalarType::Float);
  EXPECT_EQ(add(ones({2}, ScalarType::Byte), ones({2}, ScalarType::Char)).scalar_type(), ScalarType::Short);
  EXPECT_EQ(mul(bools({true}), bools({true})).scalar_type(), ScalarType::Bool);
  EXPECT_EQ(add(bools({true}), 2).scalar_type(), ScalarType::Long);
  EXPECT_EQ(add(ones({2}), std::complex<double>(0, 1)).scalar_type(), ScalarType::ComplexFloat);
  EXPECT_EQ(add(ones({2}, ScalarType::Double), std::complex<double>(0, 1)).scalar_type(), ScalarType::ComplexDouble);
}

TEST(Promotion, IntegersAreComputedAsFloatsWhereResultsAre) {
  EXPECT_EQ(toString(exp(ints({0, 1}))), "tensor([1.0000, 2.7183])");
  EXPECT_EQ(toString(div(ints({1, 2, 3}), ints({2, 2, 2}))), "tensor([0.5000, 1.0000, 1.5000])");
  EXPECT_EQ(sqrt(bools({true})).scalar_type(), ScalarType::Float);
  EXPECT_EQ(exp(ones({1}, ScalarType::Double)).scalar_type(), ScalarType::Double);
}

TEST(Arithmetic, TakesAlpha) {
  EXPECT_EQ(elements<int64_t>(add(ints({1, 2}), ints({10, 20}), 2)), (std::vector<int64_t>{21, 42}));
  EXPECT_EQ(elements<int64_t>(sub(ints({1, 2}), 10, 2)), (std::vector<int64_t>{-19, -18}));
  EXPECT_EQ(elements<float>(rsub(floats({1, 2}), 10, 2)), (std::vector<float>{8, 6}));
  EXPECT_EQ(errorOf([] { add(ints({1}), ints({1}), 1.5); }),
            "For integral input tensors, argument alpha must not be a floating point number.");
  EXPECT_EQ(errorOf([] { add(ints({1}), ints({1}), true); }), "Boolean alpha only supported for Boolean results.");
}

TEST(Arithmetic, BoolsAddAsOrAndMultiplyAsAnd) {
  EXPECT_EQ(toString(add(bools({true, false, true}), bools({true, false, false}))), "tensor([ True, False,  True])");
  EXPECT_EQ(toString(mul(bools({true, false, true}), bools({true, false, false}))), "tensor([ True, False, False])");
  EXPECT_EQ(errorOf([] { sub(bools({true}), bools({true})); }),
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead.");
  EXPECT_EQ(errorOf([] { sub(ints({1}), true); }),
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, "
            "use the `~` or `logical_not()` operator instead.");
  EXPECT_EQ(errorOf([] { neg(bools({true})); }),
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
            "the `~` or `logical_not()` operator instead.");
}

TEST(Arithmetic, IntegersWrap) {
  EXPECT_EQ(elements<uint8_t>(add(tensorOf<uint8_t>({200, 1}), tensorOf<uint8_t>({100, 2}))),
            (std::vector<uint8_t>{44, 3}));
  EXPECT_EQ(elements<uint8_t>(add(tensorOf<uint8_t>({1}), 300)), (std::vector<uint8_t>{45}));
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kAmin = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(elements<int64_t>(add(ints({kMost}), 1)), (std::vector<int64_t>{kAmin}));
  EXPECT_EQ(elements<int64_t>(neg(ints({kAmin}))), (std::vector<int64_t>{kAmin}));
  EXPECT_EQ(elements<int16_t>(mul(tensorOf<int16_t>({-32768}), tensorOf<int16_t>({-32768}))),
            (std::vector<int16_t>{0}));
  EXPECT_EQ(elements<int64_t>(floor_divide(ints({kAmin}), -1)), (std::vector<int64_t>{kAmin}));
  EXPECT_EQ(elements<int64_t>(remainder(ints({kAmin}), -1)), (std::vector<int64_t>{0}));
}

TEST(Arithmetic, DividesRoundingDown) {
  EXPECT_EQ(elements<int64_t>(floor_divide(ints({7, -7, 7, -7}), ints({2, 2, -2, -2}))),
            (std::vector<int64_t>{3, -4, -4, 3}));
  EXPECT_EQ(elements<int64_t>(remainder(ints({7, -7, 7, -7}), ints({2, 2, -2, -2}))),
            (std::vector<int64_t>{1, 1, -1, -1}));
  EXPECT_EQ(elements<float>(floor_divide(floats({7, -7, 0.3f}), 2)), (std::vector<float>{3, -4, 0}));
  EXPECT_EQ(elements<float>(remainder(floats({7.5, -7.5}), 2)), (std::vector<float>{1.5, 0.5}));
  EXPECT_EQ(elements<int64_t>(div(ints({7, -7}), 2, "trunc")), (std::vector<int64_t>{3, -3}));
  EXPECT_EQ(elements<int64_t>(div(ints({7, -7}), 2, "floor")), (std::vector<int64_t>{3, -4}));
  EXPECT_EQ(errorOf([] { div(ints({7}), 2, "round"); }),
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found 'round'");
}

TEST(Arithmetic, DividesByZero) {
  EXPECT_EQ(toString(div(floats({1, -1, 0}), 0)), "tensor([inf, -inf, nan])");
  EXPECT_EQ(errorOf([] { floor_divide(ints({1, 2}), 0); }), "ZeroDivisionError");
  EXPECT_EQ(errorOf([] { remainder(ints({1, 2}), 0); }), "ZeroDivisionError");
  EXPECT_EQ(errorOf([] { div(ints({1, 2}), 0, "trunc"); }), "ZeroDivisionError");
}

TEST(Arithmetic, RaisesToPowers) {
  EXPECT_EQ(elements<float>(pow(floats({1, 2, 3}), 2)), (std::vector<float>{1, 4, 9}));
  EXPECT_EQ(elements<float>(pow(floats({4, 9}), 0.5)), (std::vector<float>{2, 3}));
  EXPECT_EQ(elements<float>(pow(floats({2, 4}), -1)), (std::vector<float>{0.5, 0.25}));
  EXPECT_EQ(elements<int64_t>(pow(ints({-2, 3}), 3)), (std::vector<int64_t>{-8, 27}));
  EXPECT_EQ(elements<int64_t>(pow(2, ints({0, 5, 62}))), (std::vector<int64_t>{1, 32, int64_t{1} << 62}));
  EXPECT_EQ(elements<int64_t>(pow(ints({1, -1, -1, 5}), ints({-3, -3, -2, -1}))), (std::vector<int64_t>{1, -1, 1, 0}));
  EXPECT_EQ(elements<int64_t>(square(bools({true, false}))), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(errorOf([] { pow(ints({2}), -1); }), "Integers to negative integer powers are not allowed.");
}

TEST(Arithmetic, FindsTheLargerAndTheSmaller) {
  EXPECT_EQ(toString(maximum(floats({1, kNan, 3, 2}), floats({2, 1, kNan, 2}))), "tensor([2., nan, nan, 2.])");
  EXPECT_EQ(toString(minimum(floats({1, kNan, 3, 2}), floats({2, 1, kNan, 2}))), "tensor([1., nan, nan, 2.])");
  EXPECT_EQ(elements<int64_t>(max(ints({1, 5}), ints({3, 2}))), (std::vector<int64_t>{3, 5}));
}

TEST(Functions, OfOneElement) {
  EXPECT_EQ(toString(relu(floats({-1, 0, 2, kNan}))), "tensor([0., 0., 2., nan])");
  EXPECT_EQ(toString(tanh(floats({0, 1, -kInf}))), "tensor([ 0.0000,  0.7616, -1.0000])");
  EXPECT_EQ(toString(log(floats({1, 0, -1}))), "tensor([0., -inf, nan])");
  EXPECT_EQ(toString(sigmoid(floats({0, kInf}))), "tensor([0.5000, 1.0000])");
  EXPECT_EQ(toString(round(floats({0.5, 1.5, -0.5, 2.6f}))), "tensor([0., 2., -0., 3.])");
  EXPECT_EQ(toString(abs(tensorOf<std::complex<float>>({{3, 4}}))), "tensor([5.])");
  EXPECT_EQ(toString(isnan(floats({0, kNan, kInf}))), "tensor([False,  True, False])");
  EXPECT_EQ(elements<int64_t>(bitwise_not(ints({0, 5}))), (std::vector<int64_t>{-1, -6}));
  EXPECT_EQ(toString(logical_not(floats({0, 2}))), "tensor([ True, False])");
  EXPECT_EQ(errorOf([] { relu(bools({true})); }), "Boolean inputs not supported for relu");
}

TEST(Functions, SmallFloatsAreComputedInFloat32) {
  const Tensor x = tensorOf<Half>({Half(2.0f)});
  EXPECT_EQ(exp(x).scalar_type(), ScalarType::Half);
  EXPECT_EQ(static_cast<float>(elements<Half>(exp(x))[0]), static_cast<float>(Half(std::exp(2.0f))));
  const Tensor y = tensorOf<BFloat16>({BFloat16(1.5f)});
  EXPECT_EQ(static_cast<float>(elements<BFloat16>(mul(y, y))[0]), 2.25f);
}

TEST(Functions, SayWhichTypesTheyTake) {
  EXPECT_EQ(errorOf([] { bitwise_not(floats({1})); }),
            "bitwise_not does not take dtype float32; it takes uint8, int8, int16, int32, int64 or bool");
  EXPECT_EQ(errorOf([] { lt(floats({1}), std::complex<double>(0, 1)); }),
            "lt does not take dtype complex64; it takes uint8, int8, int16, int32, int64, float16, float32, float64, "
            "bool or bfloat16");
}

TEST(Comparison, GivesBools) {
  EXPECT_EQ(toString(eq(ints({1, 2, 3}), ints({3, 2, 1}))), "tensor([False,  True, False])");
  EXPECT_EQ(toString(lt(floats({1, kNan, 3}), 2)), "tensor([ True, False, False])");
  EXPECT_EQ(toString(ne(floats({kNan}), floats({kNan}))), "tensor([True])");
  EXPECT_EQ(toString(ge(ints({1, 2}), 1.5)), "tensor([False,  True])");
  EXPECT_EQ(toString(gt(floats({1, 2}, {2, 1}), floats({1, 2}))), "tensor([[False, False],\n        [ True, False]])");
}

TEST(Logic, WorksOnBitsAndTruth) {
  EXPECT_EQ(elements<int64_t>(bitwise_and(ints({12, 10}), 6)), (std::vector<int64_t>{4, 2}));
  EXPECT_EQ(elements<int64_t>(bitwise_or(ints({12}), ints({3}))), (std::vector<int64_t>{15}));
  EXPECT_EQ(toString(bitwise_xor(bools({true, true}), bools({true, false}))), "tensor([False,  True])");
  EXPECT_EQ(toString(logical_and(floats({0, 0.5}), ints({1, 7}))), "tensor([False,  True])");
  EXPECT_EQ(toString(logical_or(floats({0, kNan}), ints({0, 0}))), "tensor([False,  True])");
  EXPECT_EQ(toString(logical_xor(ints({2, 0}), ints({1, 1}))), "tensor([False,  True])");
  EXPECT_EQ(elements<int64_t>(__lshift__(ints({1, 3}), 4)), (std::vector<int64_t>{16, 48}));
  EXPECT_EQ(elements<int64_t>(__rshift__(ints({-16, 48}), ints({2, 64}))), (std::vector<int64_t>{-4, 0}));
  Tensor shifted = ints({1, 3});
  __ilshift__(shifted, ints({2, 3}));
  __irshift__(shifted, 1);
  EXPECT_EQ(elements<int64_t>(shifted), (std::vector<int64_t>{2, 12}));
}

TEST(Where, ChoosesElements) {
  const Tensor condition = bools({true, false, true});
  EXPECT_EQ(elements<float>(where(condition, floats({1, 2, 3}), floats({10, 20, 30}))), (std::vector<float>{1, 20, 3}));
  EXPECT_EQ(elements<float>(where(condition, ints({1, 2, 3}), floats({10, 20, 30}))), (std::vector<float>{1, 20, 3}));
  EXPECT_EQ(elements<int64_t>(where(condition, ints({1, 2, 3}), 0)), (std::vector<int64_t>{1, 0, 3}));
  EXPECT_EQ(toString(where(condition, 1.5, ints({1, 2, 3}))), "tensor([1.5000, 2.0000, 1.5000])");
  EXPECT_EQ(shapeText(where(condition, floats({1, 2}, {2, 1}), 0)), "float32[2, 3]");
  EXPECT_EQ(errorOf([] { where(ints({1}), ints({1}), ints({1})); }),
            "where expected condition to be a boolean tensor, but got a tensor with dtype Long");
}

TEST(MaskedFill, KeepsTheType) {
  const Tensor mask = bools({true, false});
  EXPECT_EQ(elements<int64_t>(masked_fill(ints({7, 8}), mask, 1.9)), (std::vector<int64_t>{1, 8}));
  Tensor x = floats({7, 8});
  masked_fill_(x, mask, -kInf);
  EXPECT_EQ(toString(x), "tensor([-inf, 8.])");
  EXPECT_EQ(errorOf([&] {
              masked_fill(x, ints({1, 0}), 1);
            }),
            "masked_fill_ only supports boolean masks, but got mask with dtype Long");
}

}  // namespace
}  // namespace boxcar
