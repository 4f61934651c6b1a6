#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/transforms/autocast.h>
#include <boxcar/backends/transforms/fake_scope.h>
#include <boxcar/backends/transforms/fake_tensor.h>
#include <boxcar/backends/transforms/functionalize.h>
#include <boxcar/backends/transforms/vmap.h>
#include <boxcar/dispatcher/handlers/memory/memory_tracker.h>
#include <boxcar/dispatcher/values/tensor_bytes.h>
#include <boxcar/dispatcher/values/value_copy.h>
#include <boxcar/ivalue/dlpack.h>
#include <boxcar/ivalue/storage_without_memory.h>
#include <boxcar/ivalue/zero_tensor.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "tests/backends/tensor_helpers.h"

// Zero tensors: zeros without memory, whose sums and products are known without a loop.

namespace boxcar {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;
using Tensors = std::vector<Tensor>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Tensor zeroTensor(IntArrayRef sizes, ScalarType dtype = ScalarType::Float) {
  return boxcar::_efficientzerotensor(sizes, dtype);
}

bool isOrdinary(const Tensor& tensor) { return !isZeroTensor(tensor) && tensor.data_ptr() != nullptr; }

TEST(ZeroTensor, HasAShapeAndADtypeAndNoMemory) {
  const Tensor zero = zeroTensor({2, 3}, ScalarType::Double);
  EXPECT_TRUE(boxcar::_is_zerotensor(zero));
  EXPECT_FALSE(boxcar::_is_zerotensor(zeros(Ints{2, 3})));
  EXPECT_EQ(shapeText(zero), "float64[2, 3]");
  EXPECT_EQ(stridesOf(zero), (Ints{3, 1}));
  EXPECT_EQ(zero.data_ptr(), nullptr);
  EXPECT_EQ(zero.storage()->nbytes(), 48U);
  EXPECT_TRUE(lacksMemory(*zero.storage()));
  EXPECT_EQ(shapeText(boxcar::_efficientzerotensor({2})), "float32[2]");
}

TEST(ZeroTensor, ItsMemoryIsNotCounted) {
  MemoryTracker tracker;
  {
    const HandlerGuard on(tracker);
    const Tensor zero = zeroTensor({1 << 10, 1 << 10, 1 << 10});
    const Tensor product = mul(zero, select(zero, 0, 0));
    EXPECT_EQ(shapeText(product), "float32[1024, 1024, 1024]");
    EXPECT_EQ(tracker.liveBytes(), 0U);
  }
  EXPECT_EQ(tracker.peakBytes(), 0U);
}

TEST(ZeroTensor, AViewOfOneIsOne) {
  const Tensor zero = zeroTensor({4, 6});
  EXPECT_TRUE(isZeroTensor(select(zero, 0, 1)));
  EXPECT_TRUE(isZeroTensor(transpose(zero, 0, 1)));
  EXPECT_TRUE(isZeroTensor(reshape(zero, {3, 8})));
  EXPECT_TRUE(isZeroTensor(as_strided(zero, {2, 2}, {1, 1}, 3)));
  EXPECT_TRUE(isZeroTensor(expand(select(zero, 0, 1), {5, 6})));
  EXPECT_TRUE(isZeroTensor(detach(zero)));
  for (const Tensor& part : split(zero, 2)) EXPECT_TRUE(isZeroTensor(part));
  const Tensor turned = zeroTensor({2}, ScalarType::ComplexFloat);
  EXPECT_TRUE(isZeroTensor(real(turned)));
  EXPECT_EQ(shapeText(view_as_real(turned)), "float32[2, 2]");
  EXPECT_TRUE(isZeroTensor(view_as_real(turned)));
}

TEST(ZeroTensor, AWriteIsAnErrorThatNamesTheRemedy) {
  Tensor zero = zeroTensor({2});
  EXPECT_EQ(errorOf([&] { add_(zero, 1); }),
            "aten::add_.Scalar: argument 'self' is a zero tensor, which has no memory and cannot be written; write "
            "x.clone()");
  EXPECT_EQ(
      errorOf([&] { copy_(zero, ones(Ints{2})); }),
      "aten::copy_: argument 'self' is a zero tensor, which has no memory and cannot be written; write x.clone()");
  EXPECT_EQ(errorOf([&] { exp_out(zero, ones(Ints{2})); }),
            "aten::exp.out: argument 'out' is a zero tensor, which has no memory and cannot be written; write "
            "x.clone()");
  Tensor matrix = zeroTensor({2, 3});
  EXPECT_NE(errorOf([&] { resize_(matrix, {3}); }), "no error");
  EXPECT_EQ(sizesOf(matrix), (Ints{2, 3}));
  EXPECT_EQ(zero.version(), 0U);
}

TEST(ZeroTensor, AProductWithOneIsOneWhateverTheOtherFactorIs) {
  const Tensor product = mul(zeroTensor({2, 1}), floats({1, kInfinity, std::nanf("")}));
  EXPECT_TRUE(isZeroTensor(product));
  EXPECT_EQ(shapeText(product), "float32[2, 3]");
  EXPECT_EQ(shapeText(mul(ints({1, 2}), zeroTensor({1}, ScalarType::Double))), "float64[2]");
  EXPECT_EQ(shapeText(mul(zeroTensor({2}, ScalarType::Long), zeroTensor({2}))), "float32[2]");
  EXPECT_EQ(shapeText(mul(zeroTensor({2}), tensorOf<double>({2}, {}))), "float32[2]");
  EXPECT_EQ(shapeText(mul(zeroTensor({2}, ScalarType::Int), 1.5)), "float32[2]");
  EXPECT_TRUE(isZeroTensor(mul(zeroTensor({2}, ScalarType::Int), 2)));
  EXPECT_EQ(errorOf([] { mul(zeroTensor({2}), ones(Ints{3})); }), errorOf([] { mul(zeros(Ints{2}), ones(Ints{3})); }));
}

TEST(ZeroTensor, AQuotientOfOneIsOneAndADivisionByOneIsADivision) {
  EXPECT_TRUE(isZeroTensor(boxcar::div(zeroTensor({2}), zeros(Ints{2}))));
  EXPECT_EQ(shapeText(boxcar::div(zeroTensor({2}, ScalarType::Int), ints({1, 2}))), "float32[2]");
  EXPECT_EQ(shapeText(boxcar::div(zeroTensor({2}, ScalarType::Int), 2)), "float32[2]");
  const Tensor infinite = boxcar::div(floats({1, -1}), zeroTensor({2}));
  EXPECT_TRUE(isOrdinary(infinite));
  EXPECT_EQ(elements<float>(infinite), (Floats{kInfinity, -kInfinity}));
  EXPECT_TRUE(std::isnan(elements<float>(boxcar::div(zeroTensor({1}), zeroTensor({1})))[0]));
}

TEST(ZeroTensor, ASumWithOneIsACopy) {
  const Tensor x = floats({1, 2});
  const Tensor zero = zeroTensor({2});
  const Tensor sum = add(x, zero);
  EXPECT_TRUE(isOrdinary(sum));
  EXPECT_NE(sum.storage(), x.storage());
  EXPECT_EQ(elements<float>(sum), (Floats{1, 2}));
  EXPECT_EQ(elements<float>(add(zero, x)), (Floats{1, 2}));
  EXPECT_EQ(elements<float>(add(zero, x, 3)), (Floats{3, 6}));
  EXPECT_EQ(elements<float>(sub(zero, x)), (Floats{-1, -2}));
  EXPECT_EQ(elements<float>(sub(x, zero, 3)), (Floats{1, 2}));
  EXPECT_EQ(elements<float>(add(zeroTensor({2, 2}), x)), (Floats{1, 2, 1, 2}));
  EXPECT_EQ(elements<double>(add(zeroTensor({2}, ScalarType::Double), x)), (std::vector<double>{1, 2}));
  EXPECT_TRUE(isZeroTensor(add(zero, zero)));
  EXPECT_EQ(shapeText(sub(zero, zeroTensor({3, 1}, ScalarType::Double))), "float64[3, 2]");
}

TEST(ZeroTensor, ASumOfIntegersHasTheRulesOfTheOperator) {
  const Tensor zero = zeroTensor({2}, ScalarType::Long);
  EXPECT_EQ(elements<int64_t>(add(ints({1, 2}), zero)), (Ints{1, 2}));
  EXPECT_EQ(errorOf([&] { add(ints({1, 2}), zero, 1.5); }), errorOf([&] { add(ints({1, 2}), zeros_like(zero), 1.5); }));
  EXPECT_NE(errorOf([&] { add(ints({1, 2}), zero, 1.5); }), "no error");
}

TEST(ZeroTensor, OtherOperatorsReadZeros) {
  const Tensor zero = zeroTensor({2, 2});
  EXPECT_EQ(elements<float>(exp(zero)), (Floats{1, 1, 1, 1}));
  EXPECT_EQ(elements<float>(add(zero, 2)), (Floats{2, 2, 2, 2}));
  EXPECT_EQ(elements<float>(mm(zero, ones(Ints{2, 2}))), (Floats{0, 0, 0, 0}));
  EXPECT_EQ(elements<float>(matmul(zero, ones(Ints{2}))), (Floats{0, 0}));
  EXPECT_EQ(elements<float>(softmax(zero, 0)), (Floats{0.5, 0.5, 0.5, 0.5}));
  EXPECT_EQ(elements<float>(cat({zero, ones(Ints{1, 2})})), (Floats{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(elements<float>(where(bools({true, false}), zero, ones(Ints{2, 2}))), (Floats{0, 1, 0, 1}));
  EXPECT_EQ(item(sum(zero)).toDouble(), 0);
  EXPECT_TRUE(isOrdinary(sum(zero)));
  Tensor x = ones(Ints{2, 2});
  EXPECT_EQ(elements<float>(mul_(x, zero)), (Floats{0, 0, 0, 0}));
  EXPECT_EQ(elements<int64_t>(std::get<1>(max(zeroTensor({3}), 0, true))), (Ints{0}));
}

TEST(ZeroTensor, WhatIsMadeLikeOneIsOrdinary) {
  const Tensor zero = zeroTensor({2});
  EXPECT_EQ(elements<float>(zeros_like(zero)), (Floats{0, 0}));
  EXPECT_EQ(elements<float>(ones_like(zero)), (Floats{1, 1}));
  EXPECT_EQ(elements<float>(new_full(zero, {1}, 3)), (Floats{3}));
  EXPECT_TRUE(isOrdinary(empty_like(zero)));
}

TEST(ZeroTensor, AClonesMemoryCanBeWritten) {
  Tensor copy = clone(zeroTensor({2}));
  EXPECT_TRUE(isOrdinary(copy));
  EXPECT_EQ(elements<float>(add_(copy, 1)), (Floats{1, 1}));
  EXPECT_EQ(shapeText(to(zeroTensor({2}), ScalarType::Long)), "int64[2]");
  EXPECT_EQ(stridesOf(clone(transpose(zeroTensor({2, 3}), 0, 1))), (Ints{1, 3}));
}

TEST(ZeroTensor, ACopyOfOneFillsAndCountsOneWrite) {
  Tensor x = ones(Ints{2, 2});
  const uint32_t version = x.version();
  EXPECT_EQ(elements<float>(copy_(x, zeroTensor({2}, ScalarType::Double))), (Floats{0, 0, 0, 0}));
  EXPECT_EQ(x.version(), version + 1);
  EXPECT_EQ(errorOf([&] { copy_(x, zeroTensor({3})); }), errorOf([&] { copy_(x, zeros(Ints{3})); }));
}

// Whether [function] of zeros of [sizes] is the same for a zero tensor.
template <class Function>
testing::AssertionResult agrees(IntArrayRef sizes, const Function& function) {
  const Tensor expected = function(zeros(sizes));
  const Tensor found = function(zeroTensor(sizes));
  if (isOrdinary(found) && sizesOf(found) == sizesOf(expected) && stridesOf(found) == stridesOf(expected) &&
      sameBits(found, expected)) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << toString(found) << " is not " << toString(expected);
}

TEST(ZeroTensor, LinearOperatorsOfManyZerosLoopOverTheResultAlone) {
  constexpr int64_t kMany = 400;
  const Tensor index = ints({5, 3, 3});
  EXPECT_TRUE(agrees({kMany, kMany}, [](const Tensor& x) { return sum(x, Ints{1}); }));
  EXPECT_TRUE(agrees({kMany, kMany}, [](const Tensor& x) { return mean(x); }));
  EXPECT_TRUE(agrees({kMany, kMany}, [&](const Tensor& x) { return index_select(x, 1, index); }));
  EXPECT_TRUE(agrees({kMany, kMany}, [](const Tensor& x) { return flip(x, {0}); }));
  EXPECT_TRUE(agrees({kMany, kMany}, [](const Tensor& x) { return to(x, ScalarType::Double); }));
  EXPECT_TRUE(agrees({kMany, kMany}, [](const Tensor& x) { return masked_select(x, eq(x, 0)); }));
  MemoryTracker tracker;
  const HandlerGuard on(tracker);
  const Tensor rows = sum(zeroTensor({kMany, kMany}), Ints{1});
  EXPECT_EQ(tracker.peakBytes(), uint64_t{4} * kMany);
  EXPECT_EQ(errorOf([] {
              sum(zeroTensor({kMany, kMany}), Ints{2});
            }),
            errorOf([] {
              sum(zeros(Ints{2, 2}), Ints{2});
            }));
}

// The gradient of the sum of [output] with respect to [input].
Floats gradientOf(const Tensor& output, const Tensor& input) {
  const Tensor total = sum(output);
  return elements<float>(clone(autograd::grad({&total, 1}, {&input, 1})[0]));
}

TEST(ZeroTensor, IsDifferentiatedLikeZeros) {
  const Tensor x = floats({1, 2});
  x.set_requires_grad(true);
  const Tensor zero = zeroTensor({2});
  const Tensor product = mul(x, zero);
  EXPECT_TRUE(product.requires_grad());
  EXPECT_EQ(gradientOf(product, x), (Floats{0, 0}));
  EXPECT_EQ(gradientOf(add(x, zero), x), (Floats{1, 1}));
  EXPECT_EQ(gradientOf(mul(add(zero, x), x), x), (Floats{2, 4}));
  EXPECT_EQ(gradientOf(sub(zero, x, 2), x), (Floats{-2, -2}));
  const Tensor leaf = zeroTensor({2});
  leaf.set_requires_grad(true);
  EXPECT_EQ(gradientOf(mul(leaf, floats({3, 4})), leaf), (Floats{3, 4}));
}

TEST(ZeroTensor, AsATangentCostsNothing) {
  const Tensor x = floats({1, 2});
  const autograd::ForwardLevel level;
  const Tensor still = level.makeDual(x, zeroTensor({2}));
  EXPECT_FALSE(level.tangentOf(still).defined());
  const Tensor moving = level.makeDual(x, floats({1, 10}));
  EXPECT_EQ(elements<float>(level.tangentOf(mul(still, moving))), (Floats{1, 20}));
  level.setTangent(moving, zeroTensor({2}));
  EXPECT_FALSE(level.tangentOf(mul(still, moving)).defined());
  EXPECT_NE(errorOf([&] { level.makeDual(x, zeroTensor({3})); }), "no error");
}

TEST(ZeroTensor, TangentsStayOrdinary) {
  const Tensor x = floats({1, 2});
  const autograd::ForwardLevel level;
  const Tensor dual = level.makeDual(x, floats({1, 10}));
  const Tensor condition = bools({true, false});
  EXPECT_EQ(elements<float>(level.tangentOf(where(condition, dual, x))), (Floats{1, 0}));
  EXPECT_EQ(elements<float>(level.tangentOf(where(condition, x, dual))), (Floats{0, 10}));
  EXPECT_EQ(elements<float>(level.tangentOf(lerp(x, dual, 0.5))), (Floats{0.5, 5}));
  Tensor written = mul(dual, 2);
  copy_(written, x);
  EXPECT_TRUE(isOrdinary(level.tangentOf(written)));
  EXPECT_EQ(elements<float>(level.tangentOf(written)), (Floats{0, 0}));
  mul_(written, dual);
  EXPECT_EQ(elements<float>(level.tangentOf(written)), (Floats{1, 20}));
  Tensor part = mul(dual, 1);
  Tensor last = select(part, 0, 1);
  copy_(last, tensorOf<float>({5}, {}));
  EXPECT_EQ(elements<float>(level.tangentOf(part)), (Floats{1, 0}));
}

TEST(ZeroTensor, MayBeTheSlicesOfVmap) {
  const auto each = transforms::vmap([](const Tensors& args) {
    EXPECT_EQ(args[0].dim(), 1);
    return Tensors{mul(args[0], args[1]), add(args[0], args[1]), exp(args[0]), sum(args[0])};
  });
  const Tensors found = each({zeroTensor({2, 3}), counting({2, 3})});
  EXPECT_EQ(elements<float>(clone(found[0])), Floats(6, 0));
  EXPECT_EQ(elements<float>(found[1]), (Floats{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(elements<float>(found[2]), Floats(6, 1));
  EXPECT_EQ(elements<float>(found[3]), (Floats{0, 0}));
  const auto inside = transforms::vmap([](const Tensors& args) { return Tensors{add(args[0], zeroTensor({3}))}; });
  EXPECT_EQ(elements<float>(inside({counting({2, 3})})[0]), (Floats{0, 1, 2, 3, 4, 5}));
  EXPECT_NE(errorOf([] {
              transforms::vmap([](const Tensors& args) {
                Tensor slice = args[0];
                return Tensors{add_(slice, 1)};
              })({zeroTensor({2, 3})});
            }).find("is a zero tensor"),
            std::string::npos);
}

TEST(ZeroTensor, WorksInProgramsWithoutWrites) {
  const Tensor outside = zeroTensor({2});
  Tensor x = floats({1, 2});
  {
    const FunctionalizeGuard guard;
    const Tensor zero = zeroTensor({2});
    EXPECT_TRUE(isZeroTensor(zero));
    Tensor y = add(mul(x, zero), outside);
    y = clone(y);
    add_(y, 1);
    EXPECT_EQ(elements<float>(y), (Floats{1, 1}));
    EXPECT_EQ(elements<float>(exp(select(zero, 0, 0))), (Floats{1}));
    copy_(x, zero);
  }
  EXPECT_EQ(elements<float>(x), (Floats{0, 0}));
}

TEST(ZeroTensor, MayBeFake) {
  const Device gpu(DeviceType::CUDA, 0);
  const Tensor fake = transforms::FakeConverter(gpu).convert(zeroTensor({2, 3}));
  EXPECT_TRUE(transforms::isFake(fake) && isZeroTensor(fake));
  const Tensor product = mul(fake, fake);
  EXPECT_TRUE(transforms::isFake(product) && isZeroTensor(product));
  EXPECT_EQ(product.device(), gpu);
  const Tensor other = exp(fake);
  EXPECT_TRUE(transforms::isFake(other) && !isZeroTensor(other));
  EXPECT_EQ(shapeText(sum(fake, Ints{1})), "float32[2]");
  const transforms::FakeTensorGuard guard(gpu);
  const Tensor made = boxcar::_efficientzerotensor({2, 3});
  EXPECT_TRUE(transforms::isFake(made));
  EXPECT_EQ(made.device(), gpu);
  const Tensor matrix = ones({3, 4});
  EXPECT_EQ(shapeText(mm(made, matrix)), "float32[2, 4]");
  EXPECT_TRUE(transforms::isFake(add(made, ones({2, 3}))));
}

TEST(ZeroTensor, IsCastByAutocast) {
  const autocast::AutocastGuard region(DeviceType::CPU, ScalarType::BFloat16);
  const Tensor product = mm(zeroTensor({2, 3}), ones(Ints{3, 4}));
  EXPECT_EQ(shapeText(product), "bfloat16[2, 4]");
  EXPECT_TRUE(isOrdinary(product));
}

TEST(ZeroTensor, MayBeOnTheMetaDevice) {
  const Tensor zero = boxcar::_efficientzerotensor({2}, std::nullopt, std::nullopt, Device(DeviceType::Meta));
  EXPECT_TRUE(isZeroTensor(mul(zero, zero)));
  EXPECT_TRUE(mul(zero, zero).is_meta());
  EXPECT_TRUE(exp(zero).is_meta());
  EXPECT_EQ(toString(zero), "tensor(..., device='meta', size=(2,))");
}

TEST(ZeroTensor, PrintsItsZeros) {
  EXPECT_EQ(toString(zeroTensor({2})), "tensor([0., 0.])");
  EXPECT_EQ(toString(zeroTensor({1, 2}, ScalarType::Long)), "tensor([[0, 0]])");
  EXPECT_EQ(toString(zeroTensor({2}, ScalarType::Bool)), "tensor([False, False])");
  EXPECT_EQ(toString(zeroTensor({0})), "tensor([])");
}

TEST(ZeroTensor, BecomesAnotherViewOfItself) {
  Tensor matrix = zeroTensor({2, 3});
  t_(matrix);
  EXPECT_EQ(sizesOf(matrix), (Ints{3, 2}));
  EXPECT_TRUE(isZeroTensor(matrix));
  EXPECT_EQ(toString(matrix), "tensor([[0., 0.],\n        [0., 0.],\n        [0., 0.]])");
}

TEST(ZeroTensor, ResultsHaveTheStridesThatZerosWouldHave) {
  const Tensor zero = t(zeroTensor({3, 2}));
  const Tensor plain = t(zeros(Ints{3, 2}));
  EXPECT_TRUE(std::ranges::equal(exp(zero).strides(), exp(plain).strides()));
  EXPECT_TRUE(std::ranges::equal(atan2(zero, ones(Ints{2, 3})).strides(), atan2(plain, ones(Ints{2, 3})).strides()));
}

TEST(ZeroTensor, HasNoMemoryToLend) {
  const Tensor zero = zeroTensor({2});
  EXPECT_EQ(errorOf([&] { zero.data_ptr<float>(); }),
            "a zero tensor of sizes [2] has no memory to read; read that of x.clone()");
  EXPECT_EQ(errorOf([&] { std::ignore = toDLPack(zero); }),
            "cannot lend the tensor by DLPack: it is a zero tensor, which has no memory; lend x.clone()");
}

TEST(ZeroTensor, HandlersCopyItAndReadZeros) {
  const Tensor zero = zeroTensor({2});
  const Tensor copy = ValueCopier().copy(zero);
  EXPECT_TRUE(isZeroTensor(copy));
  EXPECT_NE(copy.storage(), zero.storage());
  EXPECT_FALSE(hasBytes(zero));
  const ElementBytes bytes(zero);
  EXPECT_EQ(std::vector<std::byte>(bytes.bytes().begin(), bytes.bytes().end()), std::vector<std::byte>(8));
}

}  // namespace
}  // namespace boxcar
