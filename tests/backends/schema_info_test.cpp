#include <boxcar/dispatcher/registry/schema_info.h>
#include <gtest/gtest.h>

namespace boxcar {
namespace {

TEST(SchemaInfoOfOperators, ADropoutThatDoesNotTrainIsDeterministic) {
  SchemaInfo dropout("aten::dropout(Tensor input, float p, bool train) -> Tensor");
  EXPECT_TRUE(dropout.is_nondeterministic());
  dropout.addArgumentValue("train", false);
  EXPECT_FALSE(dropout.is_nondeterministic());
  EXPECT_TRUE(SchemaInfo("aten::bernoulli(Tensor self, *, Generator? generator=None) -> Tensor").is_nondeterministic());
  EXPECT_FALSE(SchemaInfo("aten::relu(Tensor self) -> Tensor").is_nondeterministic());
}

}  // namespace
}  // namespace boxcar
