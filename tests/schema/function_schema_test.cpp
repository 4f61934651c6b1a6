#include <boxcar/schema/function_schema.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>
#include <unordered_set>

#include "tests/schema/schema_test_util.h"
#include "tests/test_support.h"

namespace boxcar {
namespace {

// Returns the printed schema, and checks that it parses to an equal one.
std::string stable(const FunctionSchema& schema) {
  std::string text = toString(schema);
  EXPECT_EQ(parseSchema(text), schema) << text;
  return text;
}
std::string argumentText(const Argument& argument) {
  const std::string text = stable(FunctionSchema("f", "", {argument}, {}));
  return text.substr(2, text.size() - 9);
}

TEST(OperatorName, PrintsAndTellsItsNamespace) {
  EXPECT_EQ(toString(OperatorName("aten::add", "Tensor")), "aten::add.Tensor");
  EXPECT_EQ(toString(OperatorName("relu", "")), "relu");
  EXPECT_EQ(OperatorName("aten::add", "").getNamespace(), "aten");
  EXPECT_EQ(OperatorName("add", "").getNamespace(), std::nullopt);
  OperatorName name("add", "out");
  EXPECT_TRUE(name.setNamespaceIfNotSet("aten"));
  EXPECT_FALSE(name.setNamespaceIfNotSet("other"));
  EXPECT_EQ(name, OperatorName("aten::add", "out"));
}

TEST(OperatorName, HashTellsNameFromOverload) {
  EXPECT_EQ(hashOf(OperatorName("a", "b")), hashOf(OperatorName("a", "b")));
  EXPECT_NE(hashOf(OperatorName("ab", "")), hashOf(OperatorName("a", "b")));
  EXPECT_EQ(hashOf(OperatorName("aten::add", "Tensor")), 12547854333590375471u);
}

TEST(FunctionSchema, IsMadeByHand) {
  const std::string_view set[] = {"a"};
  const FunctionSchema schema("my::f", "x",
                              {Argument("self", nullptr, std::nullopt, std::nullopt, false, AliasInfo::of(set, true)),
                               Argument("size", Type::listOf(Type::integer()), 2, IValue(List<int64_t>{1, 2})),
                               Argument("p", Type::floating(), std::nullopt, IValue(1e-5), true)},
                              {Argument("", Type::tensor()), Argument("n", Type::integer())});
  EXPECT_EQ(stable(schema), "my::f.x(Tensor(a!) self, int[2] size=[1,2], *, float p=1e-05) -> (Tensor, int n)");
}

TEST(FunctionSchema, SpellsDefaultsGivenAsValues) {
  const auto spelt = [](TypePtr type, IValue value) {
    return argumentText(Argument("x", type, std::nullopt, std::move(value)));
  };
  EXPECT_EQ(spelt(Type::boolean(), true), "bool x=True");
  EXPECT_EQ(spelt(Type::optionalOf(Type::tensor()), IValue()), "Tensor? x=None");
  EXPECT_EQ(spelt(Type::floating(), 2.0), "float x=2.0");
  EXPECT_EQ(spelt(Type::floating(), 0.1), "float x=0.1");
  EXPECT_EQ(spelt(Type::string(), "it's\n"), "str x=\"it's\\n\"");
  EXPECT_EQ(spelt(Type::device(), Device("cuda:1")), "Device x='cuda:1'");
  EXPECT_EQ(spelt(Type::complex(), std::complex<double>(0, 2)), "complex x=2.0j");
  EXPECT_EQ(spelt(Type::complex(), std::complex<double>(1.5, 0)), "complex x=1.5");
  EXPECT_EQ(spelt(Type::scalar(), std::complex<double>(0, -2)), "Scalar x=-2.0j");
  EXPECT_EQ(spelt(Type::listOf(Type::boolean()), List<bool>{true, false}), "bool[] x=[True,False]");
  EXPECT_EQ(spelt(Type::scalarType(), ScalarType::Float), "ScalarType x=6");
}

TEST(FunctionSchema, RefusesWhatCannotBeWritten) {
  const auto make = [](TypePtr type, IValue value) {
    return errorOf([&] { Argument("x", type, std::nullopt, std::move(value)); });
  };
  EXPECT_EQ(make(Type::integer(), 1.5), "the default 1.5 is not of type int");
  EXPECT_EQ(make(Type::floating(), INFINITY), "a default cannot be inf: schemas cannot write it");
  EXPECT_EQ(make(Type::complex(), std::complex<double>(1, 2)),
            "a default cannot be (1+2j): schemas write complex numbers as 2j, or 1.5 where the type is complex");
  EXPECT_EQ(make(Type::scalar(), std::complex<double>(1, 0)),
            "a default cannot be (1+0j): schemas write complex numbers as 2j, or 1.5 where the type is complex");
  EXPECT_EQ(make(Type::listOf(Type::string()), List<std::string>{"a"}),
            "type str[] has no defaults: only bool, int, float, complex, Scalar, str, Device and lists of bool, int, "
            "float or complex have");
  EXPECT_EQ(errorOf([] {
              Argument("x", Type::listOf(Type::integer()), 2, IValue(List<int64_t>{1, 2, 3}));
            }),
            "the default [1, 2, 3] has 3 elements where int[2] takes 2");
  EXPECT_EQ(errorOf([] { Argument("x", Type::integer(), 2); }),
            "argument 'x' of type int cannot have the length 2: only lists have one, from 0 on");
  EXPECT_EQ(errorOf([] { Argument("in"); }), "'in' cannot name an argument: a name is a word that is not a keyword");
  const std::string_view set[] = {"a"};
  const AliasInfoPtr alias = AliasInfo::of(set, false);
  EXPECT_EQ(errorOf([&] { Argument("x", Type::futureOf(Type::tensor()), std::nullopt, std::nullopt, false, alias); }),
            "the alias annotation of argument 'x' does not fit its type Future(Tensor)");
  EXPECT_EQ(errorOf([&] { Argument("x", Type::integer(), std::nullopt, std::nullopt, false, alias->inList()); }),
            "the alias annotation of argument 'x' does not fit its type int");
}

TEST(FunctionSchema, RefusesArgumentsThatDoNotStandTogether) {
  const auto make = [](std::vector<Argument> arguments, bool is_vararg = false) {
    return errorOf([&] { FunctionSchema("f", "", std::move(arguments), {}, is_vararg); });
  };
  const auto defaulted = [](std::string name) { return Argument(name, Type::integer(), std::nullopt, IValue(1)); };
  EXPECT_EQ(make({Argument("x"), Argument("x")}), "f: two arguments are called 'x'");
  EXPECT_EQ(make({Argument("")}), "f: argument 0 has no name");
  EXPECT_EQ(make({defaulted("x"), Argument("y")}),
            "f: argument 'y' needs a default, because one before it has one: give it one, move it forward or put '*' "
            "before it");
  EXPECT_EQ(make({defaulted("x")}, true), "f: argument 'x' cannot have a default beside '...'");
  EXPECT_EQ(make({Argument("x", nullptr, std::nullopt, std::nullopt, true), Argument("y")}),
            "f: positional argument 'y' follows a keyword-only one");
  EXPECT_EQ(errorOf([&] { FunctionSchema("f", "", {}, {defaulted("x")}); }),
            "f: result 'int x=1' has a default or is keyword-only, which only arguments can be");
  EXPECT_EQ(
      errorOf([] { FunctionSchema("a::b::c", "", {}, {}); }),
      "'a::b::c' cannot name an operator: a name is a word that is not a keyword, or two such words separated by '::'");
  EXPECT_EQ(errorOf([] { FunctionSchema("f", "default", {}, {}); }),
            "f.default: overload name 'default' is reserved: it means the overload without a name");
}

TEST(FunctionSchema, AnswersQuestions) {
  const FunctionSchema schema = parseSchema("f(Tensor(a!) self, int n, *, Tensor(b!) out) -> Tensor(a!)");
  EXPECT_EQ(schema.argumentIndexWithName("n"), 1);
  EXPECT_EQ(schema.argumentIndexWithName("m"), std::nullopt);
  EXPECT_TRUE(schema.hasAnyAliasInfo());
  EXPECT_TRUE(schema.is_mutable());
  EXPECT_TRUE(schema.is_mutable(0));
  EXPECT_FALSE(schema.is_mutable(1));
  EXPECT_TRUE(schema.is_mutable("out"));
  EXPECT_FALSE(schema.arguments()[0].is_out());
  EXPECT_TRUE(schema.arguments()[2].is_out());
  EXPECT_EQ(errorOf([&] { (void)schema.is_mutable(3); }), "f has no argument 3: it has 3");
  EXPECT_EQ(errorOf([&] { (void)schema.is_mutable("m"); }),
            "f(Tensor(a!) self, int n, *, Tensor(b!) out) -> Tensor(a!) has no argument 'm'");
  EXPECT_FALSE(parseSchema("f(Tensor(a) x) -> Tensor(a)").is_mutable());
  EXPECT_FALSE(parseSchema("f(Tensor x) -> Tensor").hasAnyAliasInfo());
  EXPECT_TRUE(parseSchema("f() -> Tensor(a)").hasAnyAliasInfo());
}

TEST(FunctionSchema, TakesOtherNames) {
  FunctionSchema schema = parseSchema("f(int x) -> int");
  EXPECT_EQ(toString(schema.cloneWithName("ns::g", "y")), "ns::g.y(int x) -> int");
  EXPECT_TRUE(schema.setNamespaceIfNotSet("mine"));
  EXPECT_EQ(toString(schema), "mine::f(int x) -> int");
}

TEST(FunctionSchema, EqualityIgnoresOnlySpelling) {
  const auto equal = [](std::string_view a, std::string_view b) { return parseSchema(a) == parseSchema(b); };
  EXPECT_TRUE(equal("f(float x=1) -> ()", "f(float x=1.0) -> ()"));
  EXPECT_TRUE(equal("f(int[2] x=1) -> ()", "f(int[2] x=[1,1]) -> ()"));
  EXPECT_FALSE(equal("f(Scalar x=1) -> ()", "f(Scalar x=1.0) -> ()"));
  EXPECT_FALSE(equal("f(Scalar x=1) -> ()", "f(Scalar x=True) -> ()"));
  EXPECT_FALSE(equal("f(int x=1) -> ()", "f(int x=2) -> ()"));
  EXPECT_FALSE(equal("f(int x) -> ()", "f(int x=2) -> ()"));
  EXPECT_FALSE(equal("f(int x) -> ()", "f(int y) -> ()"));
  EXPECT_FALSE(equal("f(int x) -> ()", "f(SymInt x) -> ()"));
  EXPECT_FALSE(equal("f(int[] x) -> ()", "f(int[2] x) -> ()"));
  EXPECT_FALSE(equal("f(Tensor x) -> ()", "f(Tensor(a) x) -> ()"));
  EXPECT_FALSE(equal("f(int x) -> ()", "f(*, int x) -> ()"));
  EXPECT_FALSE(equal("f() -> ()", "f(...) -> ()"));
  EXPECT_FALSE(equal("f() -> ()", "f() -> ..."));
  EXPECT_FALSE(equal("f() -> int", "f() -> int x"));
  EXPECT_FALSE(equal("f() -> ()", "f.a() -> ()"));
}

TEST(FunctionSchema, EqualSchemasHaveOneHash) {
  EXPECT_EQ(hashOf(parseSchema("f(float x=1) -> ()")), hashOf(parseSchema("f(float x=1.0) -> ()")));
  EXPECT_NE(hashOf(parseSchema("f(Tensor x) -> ()")), hashOf(parseSchema("f(Tensor(a) x) -> ()")));
  EXPECT_NE(hashOf(parseSchema("f(int x) -> ()")), hashOf(parseSchema("f() -> int x")));
  const std::unordered_set<FunctionSchema> schemas = {parseSchema("f(float x=1) -> ()"),
                                                      parseSchema("f(float x=1.0) -> ()")};
  EXPECT_EQ(schemas.size(), 1u);
}

TEST(FunctionSchema, HashIsTheSameInEveryRun) {
  EXPECT_EQ(hashOf(parseSchema("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")),
            14494118903711785851u);
}

}  // namespace
}  // namespace boxcar
