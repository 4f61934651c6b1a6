#include <boxcar/backends/cuda/attention.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/backends/cuda/on_device/device_helpers.h"
#include "tests/backends/cuda/simulated_device.h"

// Tests which calls of scaled_dot_product_attention go to cuDNN, and how their tensors are described to it.

namespace boxcar::cuda {
namespace {

using Sizes = std::vector<int64_t>;
using Four = std::array<int64_t, 4>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor there(const Sizes& sizes, ScalarType type = ScalarType::Half) {
  return boxcar::zeros(sizes, type, std::nullopt, kCuda);
}

std::optional<PreparedAttention> prepare(const Tensor& query, const Tensor& key, const Tensor& value,
                                         const Tensor& mask = {}, bool enable_gqa = false) {
  return prepareAttention(query, key, value, mask, /*is_causal=*/false, 0.5, enable_gqa);
}

// Returns how many calls go to cuDNN for one call of attention.
template <class... Rest>
size_t callsOf(const Tensor& query, const Tensor& key, const Tensor& value, const Rest&... rest) {
  const size_t before = simulated::device().attentions.size();
  boxcar::scaled_dot_product_attention(query, key, value, rest...);
  return simulated::device().attentions.size() - before;
}

TEST(CudaAttention, OfSmallFloatsGoesToCudnn) {
  for (const ScalarType type : {ScalarType::Half, ScalarType::BFloat16}) {
    const Tensor x = there({2, 3, 5, 8}, type);
    EXPECT_EQ(callsOf(x, x, x), 1u);
    EXPECT_EQ(callsOf(x, x, x, std::nullopt, 0.0, /*is_causal=*/true), 1u);
  }
  for (const ScalarType type : {ScalarType::Float, ScalarType::Double}) {
    const Tensor x = there({2, 3, 5, 8}, type);
    EXPECT_EQ(callsOf(x, x, x), 0u);
  }
}

TEST(CudaAttention, OfTwoToFourDimensionsGoesToCudnn) {
  for (const Sizes& sizes : {Sizes{5, 8}, Sizes{3, 5, 8}, Sizes{2, 3, 5, 8}}) {
    const Tensor x = there(sizes);
    EXPECT_EQ(callsOf(x, x, x), 1u);
  }
  const Tensor x = there({1, 2, 3, 5, 8});
  EXPECT_EQ(callsOf(x, x, x), 0u);
}

TEST(CudaAttention, OfWidthsThatAreNoMultiplesOfEightIsMadeOfProducts) {
  const Tensor x = there({2, 5, 8});
  EXPECT_EQ(callsOf(there({2, 5, 12}), there({2, 5, 12}), x), 0u);
  EXPECT_EQ(callsOf(x, x, there({2, 5, 4})), 0u);
  EXPECT_EQ(callsOf(x, x, there({2, 5, 24})), 1u);
  EXPECT_EQ(callsOf(there({2, 5, 256}), there({2, 5, 256}), x), 1u);
  EXPECT_EQ(callsOf(there({2, 5, 264}), there({2, 5, 264}), x), 0u);
}

TEST(CudaAttention, WithDropoutOrGradientsOrNoElementsIsMadeOfProducts) {
  const Tensor x = there({2, 5, 8});
  EXPECT_EQ(callsOf(x, x, x, std::nullopt, 0.5), 0u);
  EXPECT_EQ(callsOf(there({2, 0, 8}), x, x), 0u);
  EXPECT_EQ(callsOf(x, there({2, 0, 8}), there({2, 0, 8})), 0u);
  const Tensor traced = there({2, 5, 8});
  traced.set_requires_grad(true);
  EXPECT_EQ(callsOf(x, traced, x), 0u);
}

TEST(CudaAttention, WithAScaleThatIsNotPositiveIsMadeOfProducts) {
  const Tensor x = there({2, 5, 8});
  EXPECT_EQ(callsOf(x, x, x, std::nullopt, 0.0, false, 0.5), 1u);
  for (const double scale : {0.0, -0.25}) EXPECT_EQ(callsOf(x, x, x, std::nullopt, 0.0, false, scale), 0u);
}

TEST(CudaAttention, OfBatchesThatBroadcastIsMadeOfProducts) {
  EXPECT_EQ(callsOf(there({2, 3, 5, 8}), there({1, 3, 5, 8}), there({1, 3, 5, 8})), 0u);
  EXPECT_EQ(callsOf(there({2, 3, 5, 8}), there({3, 5, 8}), there({3, 5, 8})), 0u);
  EXPECT_EQ(callsOf(there({2, 3, 5, 8}), there({2, 1, 5, 8}), there({2, 1, 5, 8})), 0u);
}

TEST(CudaAttention, OfHeadsThatShareKeysGoesToCudnn) {
  const auto calls = [](const Sizes& key, const Sizes& value) {
    return callsOf(there({2, 6, 5, 8}), there(key), there(value), std::nullopt, 0.0, false, std::nullopt, true);
  };
  EXPECT_EQ(calls({2, 2, 7, 8}, {2, 2, 7, 8}), 1u);
  EXPECT_EQ(calls({2, 1, 7, 8}, {2, 1, 7, 8}), 1u);
  EXPECT_EQ(calls({2, 2, 7, 8}, {2, 3, 7, 8}), 0u);
}

TEST(CudaAttention, WithMasksThatBroadcastToTheScoresGoesToCudnn) {
  const Tensor x = there({2, 3, 5, 8});
  for (const Sizes& sizes :
       {Sizes{5, 5}, Sizes{5}, Sizes{1, 5}, Sizes{5, 1}, Sizes{3, 5, 5}, Sizes{2, 1, 1, 5}, Sizes{2, 3, 5, 5}}) {
    EXPECT_EQ(callsOf(x, x, x, there(sizes)), 1u);
    EXPECT_EQ(callsOf(x, x, x, there(sizes, ScalarType::Bool)), 1u);
  }
  EXPECT_FALSE(prepare(x, x, x, there({4, 5})));
  EXPECT_FALSE(prepare(there({5, 8}), there({5, 8}), there({5, 8}), there({3, 5, 5})));
}

TEST(CudaAttention, IsMadeOfProductsWhereCudnnHasNoKernel) {
  const Tensor x = boxcar::ones({2, 3, 5, 8}, ScalarType::Half, std::nullopt, kCuda);
  simulated::device().has_attention = false;
  const Tensor result = boxcar::scaled_dot_product_attention(x, x, x);
  simulated::device().has_attention = true;
  EXPECT_EQ(hostFloats(boxcar::to(result, ScalarType::Float)), std::vector<float>(size_t{2} * 3 * 5 * 8, 1));
}

TEST(CudaAttention, IsDescribedInFourDimensions) {
  const auto prepared = prepare(there({3, 5, 16}), there({3, 7, 16}), there({3, 7, 8}));
  ASSERT_TRUE(prepared);
  const AttentionCall& call = prepared->call;
  EXPECT_EQ(call.query.sizes, (Four{1, 3, 5, 16}));
  EXPECT_EQ(call.query.strides, (Four{240, 80, 16, 1}));
  EXPECT_EQ(call.value.sizes, (Four{1, 3, 7, 8}));
  EXPECT_EQ(call.out.sizes, (Four{1, 3, 5, 8}));
  EXPECT_EQ(call.bias.data, nullptr);
  EXPECT_EQ(stridesOf(prepared->out), (Sizes{40, 8, 1}));
}

TEST(CudaAttention, ReadsTransposedHeadsWhereTheyLie) {
  const Tensor packed = there({2, 5, 3, 3, 16});  // batch, length, query/key/value, heads, width
  const auto part = [&](int64_t index) { return boxcar::transpose(boxcar::select(packed, 2, index), 1, 2); };
  const auto prepared = prepare(part(0), part(1), part(2));
  ASSERT_TRUE(prepared);
  EXPECT_EQ(prepared->call.key.data, part(1).data_ptr());
  EXPECT_EQ(prepared->call.key.sizes, (Four{2, 3, 5, 16}));
  EXPECT_EQ(prepared->call.key.strides, (Four{720, 16, 144, 1}));
}

TEST(CudaAttention, CopiesWhatKernelsCannotReadWhereItLies) {
  const Tensor x = there({2, 5, 8});
  const auto expectCopied = [&](const Tensor& key) {
    const auto prepared = prepare(x, key, x);
    ASSERT_TRUE(prepared);
    EXPECT_NE(prepared->call.key.data, key.data_ptr());
    EXPECT_EQ(prepared->call.key.strides, (Four{80, 40, 8, 1}));
  };
  expectCopied(boxcar::transpose(there({2, 8, 5}), 1, 2));                       // columns are contiguous
  expectCopied(boxcar::narrow(there({2, 5, 9}), 2, 0, 8));                       // rows are not aligned
  expectCopied(boxcar::view(boxcar::narrow(there({81}), 0, 1, 80), {2, 5, 8}));  // the whole tensor is not aligned
  expectCopied(boxcar::expand(there({1, 5, 8}), {2, 5, 8}));                     // batches share memory
}

TEST(CudaAttention, LeavesStridesOfSingleElementsOutOfItsPlans) {
  const Tensor x = there({1, 3, 5, 8});
  const Tensor other = x.view(x.sizes(), Sizes{9, 40, 8, 1}, 0);
  EXPECT_EQ(planKey(prepare(x, x, x)->call), planKey(prepare(x, other, x)->call));
}

TEST(CudaAttention, HasAPlanForEachDifferenceThatMatters) {
  const Tensor x = there({2, 3, 5, 8});
  const auto keyOf = [](const std::optional<PreparedAttention>& prepared) { return planKey(prepared->call); };
  const auto key = keyOf(prepare(x, x, x));
  EXPECT_EQ(keyOf(prepare(there({2, 3, 5, 8}), x, x)), key);
  EXPECT_NE(keyOf(prepare(there({2, 3, 6, 8}), x, x)), key);
  EXPECT_NE(keyOf(prepare(boxcar::transpose(there({2, 5, 3, 8}), 1, 2), x, x)), key);
  EXPECT_NE(keyOf(prepare(x, x, x, there({5, 5}))), key);
  EXPECT_NE(keyOf(prepareAttention(x, x, x, {}, /*is_causal=*/true, 0.5, false)), key);
  EXPECT_NE(keyOf(prepareAttention(x, x, x, {}, false, 0.25, false)), key);
  const Tensor wide = there({2, 3, 5, 8}, ScalarType::BFloat16);
  EXPECT_NE(keyOf(prepare(wide, wide, wide)), key);
}

TEST(CudaAttention, IsOfOneKindWhateverItsLengths) {
  const auto kindOf = [](const Sizes& query, const Sizes& key, bool transposed = false) {
    const auto made = [&](const Sizes& sizes) {
      if (!transposed) return there(sizes);
      return boxcar::transpose(there({sizes[0], sizes[2], sizes[1], sizes[3]}), 1, 2);
    };
    return planKind(prepare(made(query), made(key), made(key))->call);
  };
  const auto kind = kindOf({2, 3, 5, 8}, {2, 3, 7, 8});
  EXPECT_EQ(kindOf({4, 3, 9, 8}, {4, 3, 11, 8}), kind);
  EXPECT_NE(kindOf({2, 4, 5, 8}, {2, 4, 7, 8}), kind);
  EXPECT_NE(kindOf({2, 3, 5, 16}, {2, 3, 7, 16}), kind);
  EXPECT_NE(kindOf({2, 3, 1, 8}, {2, 3, 7, 8}), kind);
  EXPECT_NE(kindOf({2, 3, 5, 8}, {2, 3, 7, 8}, /*transposed=*/true), kind);
}

TEST(CudaAttention, TurnsMasksIntoFiniteNumbersInRowsThatKernelsCanRead) {
  const Tensor x = there({2, 3, 2, 8});
  const Tensor keys = there({2, 3, 3, 8});
  const Tensor mask = onCuda(boxcar::view(bools({true, false, true, false, false, false}), {2, 3}));
  const auto prepared = prepare(x, keys, keys, mask);
  ASSERT_TRUE(prepared);
  EXPECT_EQ(prepared->call.bias.sizes, (Four{1, 1, 2, 3}));
  EXPECT_EQ(prepared->call.bias.strides, (Four{16, 16, 8, 1}));
  EXPECT_EQ(hostFloats(boxcar::to(prepared->bias, ScalarType::Float)),
            (std::vector<float>{0, -65504, 0, -65504, -65504, -65504}));
  EXPECT_EQ(elements<bool>(onHost(prepared->hidden)), (std::vector<bool>{false, true}));
}

TEST(CudaAttention, KeepsMasksThatBatchesAndHeadsShare) {
  const Tensor x = there({2, 3, 5, 8});
  const auto sizesOfBias = [&](const Sizes& mask) { return prepare(x, x, x, there(mask))->call.bias.sizes; };
  EXPECT_EQ(sizesOfBias({5}), (Four{1, 1, 5, 5}));
  EXPECT_EQ(sizesOfBias({3, 1, 5}), (Four{1, 3, 5, 5}));
  EXPECT_EQ(sizesOfBias({2, 1, 5, 1}), (Four{2, 1, 5, 5}));
}

TEST(CudaAttention, LeavesItsMaskAsItWas) {
  const Tensor x = there({2, 5, 8}, ScalarType::BFloat16);
  const Tensor mask = boxcar::full({5, 5}, -kInfinity, ScalarType::BFloat16, std::nullopt, kCuda);
  EXPECT_EQ(callsOf(x, x, x, mask), 1u);
  EXPECT_EQ(hostFloats(boxcar::to(mask, ScalarType::Float)), std::vector<float>(25, -kInfinity));
}

}  // namespace
}  // namespace boxcar::cuda
