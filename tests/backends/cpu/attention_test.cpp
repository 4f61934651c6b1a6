#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/cpu/parallel.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "tests/backends/tensor_helpers.h"

// Attention by blocks, beside attention made of products.

namespace boxcar {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Sets the number of threads until the end of the scope.
class AttentionThreads {
 public:
  explicit AttentionThreads(int count) : before_(cpu::threadCount()) { cpu::setThreadCount(count); }
  ~AttentionThreads() { cpu::setThreadCount(before_); }

 private:
  int before_;
};

struct AttentionShape {
  int64_t batch;
  int64_t heads;
  int64_t queries;
  int64_t keys;
  int64_t width;
  bool is_causal = false;
  std::vector<int64_t> mask = {};
};
std::ostream& operator<<(std::ostream& stream, const AttentionShape& shape) {
  return stream << shape.batch << "x" << shape.heads << " " << shape.queries << " by " << shape.keys << ", "
                << shape.width << " wide" << (shape.is_causal ? ", causal" : "")
                << (shape.mask.empty() ? "" : ", mask");
}

// As scripts make heads: of one tensor, turned.
Tensor headsOf(int64_t batch, int64_t heads, int64_t length, int64_t width, ScalarType dtype) {
  return transpose(narrow(randn({batch, length, heads, 3 * width}, dtype), -1, width, width), 1, 2);
}

struct AttentionCase {
  explicit AttentionCase(const AttentionShape& shape, ScalarType dtype)
      : query(headsOf(shape.batch, shape.heads, shape.queries, shape.width, dtype)),
        key(headsOf(shape.batch, shape.heads, shape.keys, shape.width, dtype)),
        value(headsOf(shape.batch, shape.heads, shape.keys, shape.width, dtype)),
        grad(headsOf(shape.batch, shape.heads, shape.queries, shape.width, dtype)),
        is_causal(shape.is_causal) {
    if (shape.mask.empty()) return;
    // The first two queries may attend to no key.
    mask = masked_fill(randn(shape.mask, dtype), lt(rand(shape.mask), 0.3), -kInfinite);
    if (shape.mask[shape.mask.size() - 2] > 2) {
      Tensor hidden = narrow(*mask, -2, 0, 2);
      fill_(hidden, -kInfinite);
    }
  }

  // The result, the sums, and the gradients.
  std::vector<Tensor> byBlocks() const {
    const auto [out, sums] = _scaled_dot_product_flash_attention_for_cpu(query, key, value, 0.0, is_causal, mask);
    const auto [of_query, of_key, of_value] =
        _scaled_dot_product_flash_attention_for_cpu_backward(grad, query, key, value, out, sums, 0.0, is_causal, mask);
    return {out, sums, of_query, of_key, of_value};
  }

  std::vector<Tensor> byProducts() const {
    std::vector<Tensor> inputs;
    for (const Tensor& input : {query, key, value}) inputs.push_back(clone(input).set_requires_grad(true));
    const Tensor out =
        std::get<0>(_scaled_dot_product_attention_math(inputs[0], inputs[1], inputs[2], mask, 0.0, is_causal));
    std::vector<Tensor> gradients = autograd::grad({{out}}, inputs, {{grad}});
    gradients.insert(gradients.begin(), detach(out));
    return gradients;
  }

  Tensor query;
  Tensor key;
  Tensor value;
  Tensor grad;
  std::optional<Tensor> mask;
  bool is_causal;
};

const AttentionShape kShapes[] = {
    {2, 3, 1, 1, 1},
    {1, 2, 1, 700, 64},
    {1, 2, 5, 300, 20},
    {2, 2, 7, 40, 8, true},
    {1, 2, 97, 96, 16},
    {1, 1, 200, 257, 33},
    {1, 1, 200, 257, 33, true},
    {1, 2, 300, 513, 5, true},
    {1, 1, 600, 40, 65, true},
    {1, 2, 50, 300, 70, false, {50, 300}},
    {2, 2, 50, 300, 8, false, {2, 1, 50, 300}},
    {2, 2, 50, 30, 8, false, {2, 2, 50, 1}},
    {2, 2, 13, 300, 8, false, {1, 1, 1, 300}},
    {1, 1, 3, 20, 4, false, {3, 20}},
};

class AttentionByBlocks : public testing::TestWithParam<AttentionShape> {};

TEST_P(AttentionByBlocks, IsAttentionOfProducts) {
  for (const ScalarType dtype : {ScalarType::Float, ScalarType::Double}) {
    const AttentionCase tested(GetParam(), dtype);
    const std::vector<Tensor> found = tested.byBlocks();
    const std::vector<Tensor> expected = tested.byProducts();
    const double tolerance = dtype == ScalarType::Float ? 1e-4 : 1e-12;
    const size_t order[] = {0, 2, 3, 4};
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_TRUE(allclose(found[order[i]], expected[i], tolerance, tolerance))
          << "result " << order[i] << " of " << dtypeName(dtype) << ": "
          << item(max(abs(sub(found[order[i]], expected[i])))).to<double>();
    }
  }
}

TEST_P(AttentionByBlocks, GivesTheSameBitsForAnyThreads) {
  const AttentionCase tested(GetParam(), ScalarType::Float);
  std::vector<Tensor> alone;
  {
    const AttentionThreads one(1);
    alone = tested.byBlocks();
  }
  for (const int threads : {2, 3, 7}) {
    const AttentionThreads several(threads);
    const std::vector<Tensor> together = tested.byBlocks();
    for (size_t i = 0; i < alone.size(); ++i) EXPECT_TRUE(equal(together[i], alone[i])) << i << ", " << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, AttentionByBlocks, testing::ValuesIn(kShapes));

TEST(Attention, SharesTheBlocksOfOneHeadAmongThreads) {
  // Long enough that keys are packed block by block.
  const AttentionCase tested({1, 1, 400, 9000, 64}, ScalarType::Float);
  std::vector<Tensor> alone;
  {
    const AttentionThreads one(1);
    alone = tested.byBlocks();
  }
  const AttentionThreads several(4);
  const std::vector<Tensor> together = tested.byBlocks();
  for (size_t i = 0; i < alone.size(); ++i) EXPECT_TRUE(equal(together[i], alone[i])) << i;
  const std::vector<Tensor> expected = tested.byProducts();
  EXPECT_TRUE(allclose(together[0], expected[0], 1e-4, 1e-5));
  EXPECT_TRUE(allclose(together[2], expected[1], 1e-3, 1e-5));
  EXPECT_TRUE(allclose(together[3], expected[2], 1e-3, 1e-5));
}

TEST(Attention, OfAMillionKeys) {
  const Tensor query = ones({1, 1, 1, 2});
  Tensor key = zeros({1, 1, 1'000'000, 2});
  Tensor value = ones({1, 1, 1'000'000, 2});
  EXPECT_TRUE(allclose(scaled_dot_product_attention(query, key, value), ones({1, 1, 1, 2})));
  // A score whose exponential is infinite comes last.
  Tensor last = narrow(key, 2, 999'999, 1);
  fill_(last, 1e4);
  Tensor of_last = narrow(value, 2, 999'999, 1);
  fill_(of_last, 3);
  EXPECT_EQ(elements<float>(scaled_dot_product_attention(query, key, value)), (std::vector<float>{3, 3}));
}

TEST(Attention, OfQueriesThatMayAttendToNothingIsZero) {
  for (const int64_t keys : {3, 600}) {
    const Tensor x = randn({1, 2, 20, 8}).set_requires_grad(true);
    const Tensor y = randn({1, 2, keys, 8}).set_requires_grad(true);
    Tensor mask = ones({20, keys}, ScalarType::Bool);
    Tensor hidden = narrow(mask, 0, 4, 3);
    zero_(hidden);
    const Tensor result = scaled_dot_product_attention(x, y, y, mask);
    EXPECT_EQ(item(sum(abs(narrow(detach(result), 2, 4, 3)))).to<double>(), 0);
    autograd::backward({{sum(result)}});
    EXPECT_EQ(item(sum(abs(narrow(autograd::gradOf(x), 2, 4, 3)))).to<double>(), 0);
    EXPECT_TRUE(item(all(isfinite(autograd::gradOf(y)))).to<bool>());
  }
}

TEST(Attention, OfNaNIsNaN) {
  for (const ScalarType dtype : {ScalarType::Float, ScalarType::Double}) {
    Tensor query = randn({1, 1, 30, 8}, dtype);
    const Tensor key = randn({1, 1, 300, 8}, dtype);
    Tensor row = narrow(query, 2, 5, 1);
    fill_(row, std::nan(""));
    const Tensor is_nan = isnan(scaled_dot_product_attention(query, key, key));
    EXPECT_EQ(item(sum(is_nan)).to<int64_t>(), 8);
    EXPECT_TRUE(item(all(narrow(is_nan, 2, 5, 1))).to<bool>());
    // A key that causal queries see late.
    Tensor late = clone(key);
    Tensor part = narrow(late, 2, 29, 1);
    fill_(part, std::nan(""));
    query = randn({1, 1, 30, 8}, dtype);
    const Tensor causal = scaled_dot_product_attention(query, late, key, std::nullopt, 0.0, true);
    EXPECT_EQ(item(sum(isnan(causal))).to<int64_t>(), 8);
  }
}

TEST(Attention, OfSumsThatBelongToOtherScoresIsInfinite) {
  const Tensor x = full({1, 1, 2, 4}, 100.0, ScalarType::Float);
  const Tensor sums = zeros({1, 1, 2});
  const auto [of_query, of_key, of_value] =
      _scaled_dot_product_flash_attention_for_cpu_backward(x, x, x, x, zeros_like(x), sums, 0.0, false);
  EXPECT_TRUE(item(all(isinf(of_value))).to<bool>());
}

TEST(Attention, GradientsAreOfAnyDtypeAndLayoutAndSizesAreChecked) {
  const Tensor x = randn({1, 2, 5, 4}, ScalarType::Double);
  const auto [out, sums] = _scaled_dot_product_flash_attention_for_cpu(x, x, x);
  const Tensor expected =
      std::get<0>(_scaled_dot_product_flash_attention_for_cpu_backward(ones_like(x), x, x, x, out, sums, 0.0, false));
  // One element for all.
  const Tensor narrower = expand(ones({1, 1, 1, 1}), x.sizes());
  const Tensor found =
      std::get<0>(_scaled_dot_product_flash_attention_for_cpu_backward(narrower, x, x, x, out, sums, 0.0, false));
  EXPECT_TRUE(allclose(found, expected));
  EXPECT_EQ(errorOf([&] {
              _scaled_dot_product_flash_attention_for_cpu_backward(randn({1, 2, 4, 4}), x, x, x, out, sums, 0.0, false);
            }),
            "_scaled_dot_product_flash_attention_for_cpu_backward: expected grad_out and out of the query's size, and "
            "logsumexp of its first three, but got sizes [1, 2, 4, 4], [1, 2, 5, 4] and [1, 2, 5] for a query of size "
            "[1, 2, 5, 4]");
  EXPECT_EQ(errorOf([&] {
              scaled_dot_product_attention(x, x, x, zeros({4, 5}, ScalarType::Double));
            }),
            "scaled_dot_product_attention: attn_mask of size [4, 5] does not broadcast to the scores, of [1, 2, 5, 5]");
}

TEST(Attention, OfNothingIsEmptyOrZero) {
  EXPECT_EQ(shapeText(scaled_dot_product_attention(zeros({2, 3, 0, 4}), zeros({2, 3, 5, 4}), zeros({2, 3, 5, 4}))),
            "float32[2, 3, 0, 4]");
  EXPECT_EQ(shapeText(scaled_dot_product_attention(zeros({2, 0, 5, 4}), zeros({2, 0, 5, 4}), zeros({2, 0, 5, 4}))),
            "float32[2, 0, 5, 4]");
  EXPECT_EQ(shapeText(scaled_dot_product_attention(zeros({2, 3, 5, 0}), zeros({2, 3, 5, 0}), zeros({2, 3, 5, 0}))),
            "float32[2, 3, 5, 0]");
  const Tensor none = scaled_dot_product_attention(ones({2, 3, 5, 4}), zeros({2, 3, 0, 4}), zeros({2, 3, 0, 4}));
  EXPECT_EQ(item(sum(abs(none))).to<double>(), 0);
  const auto [out, sums] =
      _scaled_dot_product_flash_attention_for_cpu(ones({2, 3, 5, 4}), zeros({2, 3, 0, 4}), zeros({2, 3, 0, 4}));
  EXPECT_EQ(shapeText(sums), "float32[2, 3, 5]");
}

}  // namespace
}  // namespace boxcar
