#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/parse_schema.h>
#include <gtest/gtest.h>

#include "tests/test_support.h"

namespace boxcar {
namespace {

constexpr SchemaArgument input(size_t index) { return {SchemaArgType::input, index}; }
constexpr SchemaArgument output(size_t index) { return {SchemaArgType::output, index}; }

const FunctionSchema& sample() {
  static const FunctionSchema schema =
      parseSchema("my::f(Tensor(a) self, Tensor(b!) other, Tensor rest) -> (Tensor(a), Tensor(b!))");
  return schema;
}

TEST(SchemaAliases, IsAliasingWhatHasAnAnnotation) {
  for (const SchemaArgument each : {input(0), input(1), output(0), output(1)}) EXPECT_TRUE(sample().is_aliasing(each));
  EXPECT_FALSE(sample().is_aliasing(input(2)));
}

TEST(SchemaAliases, IsMutableWhatIsWritten) {
  EXPECT_TRUE(sample().is_mutable(input(1)));
  EXPECT_TRUE(sample().is_mutable(output(1)));
  EXPECT_TRUE(sample().is_mutable("other"));
  for (const SchemaArgument each : {input(0), input(2), output(0)}) EXPECT_FALSE(sample().is_mutable(each));
  EXPECT_FALSE(sample().is_mutable("self"));
}

TEST(SchemaAliases, OfAnArgumentThatIsNotThereIsAnError) {
  EXPECT_EQ(errorOf([] { sample().is_aliasing(input(3)); }), "my::f has no argument 3: it has 3");
  EXPECT_EQ(errorOf([] { sample().is_mutable(output(2)); }), "my::f has no result 2: it has 2");
  EXPECT_EQ(errorOf([] { sample().may_alias(input(0), input(15)); }), "my::f has no argument 15: it has 3");
  EXPECT_EQ(errorOf([] { sample().may_contain_alias(output(15), input(0)); }), "my::f has no result 15: it has 2");
  EXPECT_NE(errorOf([] { sample().is_mutable("nobody"); }), "no error");
}

TEST(SchemaAliases, MayBeOfOneSet) {
  EXPECT_TRUE(sample().may_alias(input(0), output(0)));
  EXPECT_TRUE(sample().may_alias(output(0), input(0)));
  EXPECT_TRUE(sample().may_alias(input(1), output(1)));
  EXPECT_FALSE(sample().may_alias(input(1), output(0)));
  EXPECT_FALSE(sample().may_alias(input(2), output(0)));
  EXPECT_FALSE(sample().may_alias(input(0), input(1)));
}

TEST(SchemaAliases, MayBeOfOneOfSeveralSetsAndOfTheWildcard) {
  const FunctionSchema several = parseSchema("my::f(Tensor(a|b) x, Tensor(b) y, Tensor(c) z) -> Tensor(b|c)");
  EXPECT_TRUE(several.may_alias(input(0), input(1)));
  EXPECT_FALSE(several.may_alias(input(0), input(2)));
  EXPECT_TRUE(several.may_alias(input(2), output(0)));
  const FunctionSchema wild = parseSchema("my::f(Tensor(*) x, Tensor(a) y) -> Tensor(*)");
  EXPECT_TRUE(wild.may_alias(input(0), output(0)));
  EXPECT_FALSE(wild.may_alias(input(1), output(0)));
  // An argument's set after the call is what counts.
  const FunctionSchema moved = parseSchema("my::f(Tensor(a -> *) x) -> Tensor(*)");
  EXPECT_TRUE(moved.may_alias(input(0), output(0)));
}

TEST(SchemaAliases, AreOfOneTypeWhereverOptionalsAndUnionsAre) {
  const FunctionSchema optional = parseSchema("my::f(Tensor(a)? x, int(a) n, Tensor(a)[](a) l) -> Tensor(a)");
  EXPECT_TRUE(optional.may_alias(input(0), output(0)));
  EXPECT_FALSE(optional.may_alias(input(1), output(0)));
  EXPECT_FALSE(optional.may_alias(input(2), output(0)));
  const FunctionSchema joined = parseSchema("my::f(Union(Tensor, int[])(a) x, float[](a) y) -> int[](a)");
  EXPECT_TRUE(joined.may_alias(input(0), output(0)));
  EXPECT_FALSE(joined.may_alias(input(1), output(0)));
}

TEST(SchemaAliases, OfATypeAreThoseOfWhatHasIdentity) {
  const auto setOf = [](std::string_view type) { return FunctionSchema::mapTypeToAliasTypeSet(parseType(type)); };
  EXPECT_EQ(setOf("int"), std::nullopt);
  EXPECT_EQ(setOf("Scalar?"), std::nullopt);
  EXPECT_EQ(setOf("Tensor?"), AliasTypeSet{Type::tensor()});
  EXPECT_EQ(setOf("(int, Tensor, str)"), AliasTypeSet{parseType("(Tensor)")});
  EXPECT_EQ(setOf("(int, str)"), std::nullopt);
  EXPECT_EQ(setOf("Union(int, int[], Tensor)"), (AliasTypeSet{parseType("int[]"), Type::tensor()}));
  EXPECT_EQ(setOf("Dict(str, Tensor)"), AliasTypeSet{parseType("Dict(str, Tensor)")});
  EXPECT_EQ(FunctionSchema::getAliasTypeSetContainedTypes(setOf("Dict(str, Tensor[])")),
            (AliasTypeSet{Type::string(), parseType("Tensor[]"), Type::tensor()}));
  EXPECT_EQ(FunctionSchema::getAliasTypeSetContainedTypes(std::nullopt), std::nullopt);
  EXPECT_FALSE(FunctionSchema::canAliasTypeSetsAlias(setOf("int"), setOf("int")));
}

TEST(SchemaAliases, AContainerMayHoldWhatIsAWildcard) {
  const FunctionSchema schema = parseSchema("my::f(Tensor(*) self) -> Tensor[]");
  EXPECT_FALSE(schema.may_alias(output(0), input(0)));
  EXPECT_TRUE(schema.may_contain_alias(output(0), input(0)));
  EXPECT_TRUE(schema.may_contain_alias(output(0), input(0), false));
  EXPECT_TRUE(schema.may_contain_alias(input(0), output(0)));
  EXPECT_FALSE(schema.may_contain_alias(input(0), output(0), false));
}

TEST(SchemaAliases, ContainersOfOneElementTypeMayHoldTheSame) {
  const FunctionSchema schema = parseSchema("my::f(Tensor[] self, int[] n, Tensor(a) x) -> Tensor[]");
  EXPECT_FALSE(schema.may_alias(output(0), input(0)));
  for (const bool bidirectional : {true, false}) {
    EXPECT_TRUE(schema.may_contain_alias(output(0), input(0), bidirectional));
    EXPECT_TRUE(schema.may_contain_alias(input(0), output(0), bidirectional));
    EXPECT_FALSE(schema.may_contain_alias(output(0), input(1), bidirectional));
    EXPECT_FALSE(schema.may_contain_alias(output(0), input(2), bidirectional));
  }
  // What may alias may also be contained.
  EXPECT_TRUE(sample().may_contain_alias(input(0), output(0)));
  EXPECT_FALSE(sample().may_contain_alias(input(0), output(1)));
}

}  // namespace
}  // namespace boxcar
