#include <gtest/gtest.h>

#include "tests/backends/tensor_helpers.h"

// In-place and out variants: what they write and what they refuse.

namespace boxcar {
namespace {

TEST(InPlace, WritesToSelfAndCounts) {
  Tensor x = floats({1, 2});
  const uint32_t version = x.version();
  Tensor& result = add_(x, floats({10, 20}));
  EXPECT_EQ(&result, &x);
  EXPECT_EQ(elements<float>(x), (std::vector<float>{11, 22}));
  EXPECT_EQ(x.version(), version + 1);
  mul_(x, 2);
  neg_(x);
  EXPECT_EQ(elements<float>(x), (std::vector<float>{-22, -44}));
}

TEST(InPlace, IsSeenThroughViews) {
  const Tensor x = zeros({2, 3});
  Tensor column = select(x, 1, 1);
  add_(column, 5);
  EXPECT_EQ(elements<float>(x), (std::vector<float>{0, 5, 0, 0, 5, 0}));
}

TEST(InPlace, WritesToStridedTensorsFromBroadcastInputs) {
  const Tensor x = zeros({3, 2});
  Tensor transposed = t(x);
  add_(transposed, floats({1, 2, 3}));
  EXPECT_EQ(elements<float>(x), (std::vector<float>{1, 1, 2, 2, 3, 3}));
}

TEST(InPlace, ConvertsTheResultOnlyWithinItsKind) {
  Tensor x = ints({1, 2});
  EXPECT_EQ(errorOf([&] { add_(x, 1.5); }), "result type Float can't be cast to the desired output type Long");
  EXPECT_EQ(errorOf([&] { div_(x, 2); }), "result type Float can't be cast to the desired output type Long");
  EXPECT_EQ(elements<int64_t>(x), (std::vector<int64_t>{1, 2}));
  Tensor narrow_float = floats({1});
  add_(narrow_float, tensorOf<double>({1e-9}));
  EXPECT_EQ(narrow_float.scalar_type(), ScalarType::Float);
  Tensor truth = bools({true});
  EXPECT_EQ(errorOf([&] { add_(truth, 1); }), "result type Long can't be cast to the desired output type Bool");
}

TEST(InPlace, RefusesALargerResult) {
  Tensor x = zeros({3});
  EXPECT_EQ(errorOf([&] { add_(x, zeros({2, 3})); }), "output with shape [3] doesn't match the broadcast shape [2, 3]");
  EXPECT_EQ(errorOf([&] { add_(x, zeros({2})); }),
            "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 0");
}

TEST(InPlace, RefusesElementsThatShareMemory) {
  Tensor x = expand(floats({1, 2, 3}), {2, 3});
  EXPECT_EQ(errorOf([&] { add_(x, 1); }),
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation.");
}

TEST(InPlace, RefusesPartialOverlap) {
  const Tensor x = counting({5});
  Tensor tail = slice(x, 0, 1);
  const Tensor head = slice(x, 0, 0, 4);
  EXPECT_EQ(errorOf([&] { add_(tail, head); }),
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
            "memory location. Please clone() the tensor before performing the operation.");
  Tensor square = counting({3, 3});
  EXPECT_NE(errorOf([&] { add_(square, t(square)); }), "no error");
  EXPECT_EQ(elements<float>(x), (std::vector<float>{0, 1, 2, 3, 4}));
}

TEST(InPlace, TakesItselfAsAnInput) {
  Tensor x = counting({5});
  add_(x, x);
  EXPECT_EQ(elements<float>(x), (std::vector<float>{0, 2, 4, 6, 8}));
}

TEST(Out, WritesAndConverts) {
  Tensor out = zeros({2}, ScalarType::Double);
  Tensor& result = add_out(out, floats({1, 2}), floats({3, 4}));
  EXPECT_EQ(&result, &out);
  EXPECT_EQ(elements<double>(out), (std::vector<double>{4, 6}));
  Tensor integers = zeros({2}, ScalarType::Long);
  EXPECT_EQ(errorOf([&] {
              add_out(integers, floats({1, 2}), floats({3, 4}));
            }),
            "result type Float can't be cast to the desired output type Long");
  eq_out(integers, floats({1, 2}), floats({1, 4}));
  EXPECT_EQ(elements<int64_t>(integers), (std::vector<int64_t>{1, 0}));
}

TEST(Out, TakesTheResultsSizes) {
  Tensor out = zeros({0});
  add_out(out, zeros({2, 1}), ones({3}));
  EXPECT_EQ(toString(out), "tensor([[1., 1., 1.],\n        [1., 1., 1.]])");
  Tensor large = zeros({100});
  exp_out(large, zeros({2}));
  EXPECT_EQ(toString(large), "tensor([1., 1.])");
}

TEST(Out, CannotBeResizedWhileItIsAnInput) {
  Tensor out = floats({1, 2, 3});
  EXPECT_EQ(errorOf([&] {
              add_out(out, out, zeros({2, 3}));
            }),
            "output with shape [3] cannot be resized, for it shares memory with an input of shape [3]");
  EXPECT_EQ(elements<float>(out), (std::vector<float>{1, 2, 3}));
}

TEST(Out, CannotBeResizedOverAnInput) {
  const Tensor base = counting({8});
  Tensor out = slice(base, 0, 1, 2);
  EXPECT_EQ(errorOf([&] { add_out(out, zeros({64}), select(base, 0, 2)); }),
            "output with shape [1] cannot be resized, for it shares memory with an input of shape []");
  EXPECT_EQ(elements<float>(out), (std::vector<float>{1}));
}

TEST(Out, MayBeStrided) {
  const Tensor x = zeros({2, 2});
  Tensor transposed = t(x);
  add_out(transposed, floats({1, 2}, {1, 2}), floats({10, 20}, {2, 1}));
  EXPECT_EQ(elements<float>(x), (std::vector<float>{11, 21, 12, 22}));
}

}  // namespace
}  // namespace boxcar
