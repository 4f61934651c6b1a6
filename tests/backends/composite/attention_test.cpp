#include <gtest/gtest.h>

#include <optional>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

Tensor attention(const Tensor& query, const Tensor& key, const Tensor& value, bool enable_gqa = true) {
  return scaled_dot_product_attention(query, key, value, std::nullopt, 0.0, false, std::nullopt, enable_gqa);
}

TEST(Attention, OfQueriesWithoutHeadsIsEmpty) {
  EXPECT_EQ(shapeText(attention(zeros({0, 5, 2}), zeros({17, 5, 2}), zeros({17, 5, 1}))), "float32[0, 5, 1]");
  EXPECT_EQ(shapeText(attention(zeros({2, 0, 4, 2}), zeros({2, 17, 5, 2}), zeros({2, 17, 5, 3}))),
            "float32[2, 0, 4, 3]");
  EXPECT_EQ(shapeText(attention(zeros({0, 5, 2}), zeros({0, 5, 2}), zeros({0, 5, 1}))), "float32[0, 5, 1]");
  EXPECT_EQ(shapeText(attention(zeros({0, 5, 2}, ScalarType::Half), zeros({3, 5, 2}, ScalarType::Half),
                                zeros({3, 5, 1}, ScalarType::Half))),
            "float16[0, 5, 1]");
}

TEST(Attention, HeadsAreMultiplesOfThoseOfKeys) {
  EXPECT_EQ(errorOf([] {
              attention(zeros({3, 5, 2}), zeros({0, 5, 2}), zeros({0, 5, 1}));
            }),
            "scaled_dot_product_attention: the number of heads of the query, 3, must be a multiple of that of key and "
            "value, 0");
  EXPECT_EQ(errorOf([] {
              attention(zeros({3, 5, 2}), zeros({2, 5, 2}), zeros({2, 5, 1}));
            }),
            "scaled_dot_product_attention: the number of heads of the query, 3, must be a multiple of that of key and "
            "value, 2");
}

TEST(Attention, IsTaggedAsRandomForItsDropout) {
  const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow("aten::scaled_dot_product_attention", "");
  EXPECT_TRUE(op.hasTag(Tag::nondeterministic_seeded));
}

}  // namespace
}  // namespace boxcar
