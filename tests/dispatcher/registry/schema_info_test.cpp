#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/dispatcher/registry/schema_info.h>
#include <boxcar/schema/parse_schema.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"

namespace boxcar {
namespace {

constexpr SchemaArgument input(size_t index) { return {SchemaArgType::input, index}; }
constexpr SchemaArgument output(size_t index) { return {SchemaArgType::output, index}; }

constexpr const char* kAddInPlace = "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)";
constexpr const char* kSub = "aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";
constexpr const char* kBatchNorm =
    "aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
    "training, float momentum, float eps, bool cudnn_enabled) -> Tensor";
constexpr const char* kInstanceNorm =
    "aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
    "use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor";

constexpr const char* kIndexedBatchNorm =
    "aten::_batch_norm_impl_index(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
    "running_var, "
    "bool training, float momentum, float eps, bool cudnn_enabled) -> (Tensor, Tensor, Tensor, Tensor, int)";
constexpr const char* kNativeBatchNorm =
    "aten::native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
    "bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)";

TEST(SchemaInfo, UndeclaredWritesAreThoseOfTheStatisticsWhereACallTrains) {
  const auto values = [](IValue training) {
    return std::vector<IValue>{cpuTensor(), {}, {}, cpuTensor(), cpuTensor(), std::move(training), 0.1, 1e-5};
  };
  const FunctionSchema schema = parseSchema(kNativeBatchNorm);
  EXPECT_EQ(undeclaredWrites(schema, values(true)), (std::vector<size_t>{3, 4}));
  EXPECT_EQ(undeclaredWrites(schema, values(false)), std::vector<size_t>());
  EXPECT_EQ(undeclaredWrites(parseSchema(kAddInPlace), values(true)), std::vector<size_t>());
  EXPECT_TRUE(SchemaInfo(kNativeBatchNorm).is_mutable("running_var"));
}

TEST(SchemaInfo, SaysWithoutValuesWhatTheSchemaSays) {
  const SchemaInfo info(kAddInPlace);
  EXPECT_TRUE(info.is_mutable());
  EXPECT_TRUE(info.is_mutable(input(0)));
  EXPECT_TRUE(info.is_mutable("self"));
  EXPECT_TRUE(info.is_mutable(output(0)));
  EXPECT_FALSE(info.is_mutable(input(1)));
  EXPECT_FALSE(info.is_mutable("other"));
  EXPECT_TRUE(info.may_alias(input(0), output(0)));
  EXPECT_FALSE(info.may_alias(input(1), output(0)));
  EXPECT_FALSE(SchemaInfo(kSub).is_mutable());
  EXPECT_TRUE(info.hasInputArgumentNamed("alpha"));
  EXPECT_FALSE(info.hasInputArgumentNamed("beta"));
}

TEST(SchemaInfo, WhatIsAnAliasOfWhatIsWrittenIsWritten) {
  SchemaInfo info(kAddInPlace);
  const Tensor x = cpuTensor();
  info.addArgumentValue("self", x);
  info.addArgumentValue("other", x);
  EXPECT_TRUE(info.is_mutable("other"));
  EXPECT_TRUE(info.may_alias(input(0), input(1)));
  EXPECT_TRUE(info.may_alias(input(1), output(0)));
  EXPECT_TRUE(info.may_alias(output(0), input(1)));
  // A value that is added again replaces the previous one.
  info.addArgumentValue("other", cpuTensor());
  EXPECT_FALSE(info.is_mutable("other"));
  EXPECT_FALSE(info.may_alias(input(0), input(1)));
}

TEST(SchemaInfo, ViewsAreAliasesOfTheirTensor) {
  SchemaInfo info(kSub);
  const Tensor x = cpuTensor();
  const std::vector<int64_t> one{1};
  info.addArgumentValues(std::vector<std::optional<IValue>>{x, x.view(one, one, 1)});
  EXPECT_TRUE(info.may_alias(input(0), input(1)));
  EXPECT_FALSE(info.may_alias(input(0), output(0)));
}

TEST(SchemaInfo, ValuesComeByNameOrInOrderAndMustHaveAnArgument) {
  SchemaInfo info(kSub);
  const Tensor x = cpuTensor();
  info.addArgumentValues(std::vector<std::optional<IValue>>{IValue(x), std::nullopt});
  EXPECT_FALSE(info.may_alias(input(0), input(1)));
  info.addArgumentValues(std::unordered_map<std::string, IValue>{{"other", IValue(x)}});
  EXPECT_TRUE(info.may_alias(input(0), input(1)));
  EXPECT_EQ(errorOf([&] { info.addArgumentValue("nobody", 1); }),
            "aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor has no argument 'nobody'");
  EXPECT_EQ(errorOf([&] { info.addArgumentValues(std::vector<std::optional<IValue>>(4)); }),
            "aten::sub.Tensor takes 3 arguments, and 4 values were given for them");
  EXPECT_EQ(errorOf([&] { info.is_mutable(input(4)); }), "aten::sub.Tensor has no argument 4: it has 3");
  EXPECT_EQ(errorOf([&] { info.is_mutable(output(4)); }), "aten::sub.Tensor has no result 4: it has 1");
  EXPECT_EQ(errorOf([&] { info.may_alias(input(15), output(0)); }), "aten::sub.Tensor has no argument 15: it has 3");
  EXPECT_NE(errorOf([&] { info.is_mutable("nobody"); }), "no error");
}

TEST(SchemaInfo, RunningStatisticsAreWrittenWhereACallMayTrain) {
  for (const auto& [schema, flag] : std::map<const char*, const char*>{
           {kBatchNorm, "training"}, {kIndexedBatchNorm, "training"}, {kInstanceNorm, "use_input_stats"}}) {
    SchemaInfo info(schema);
    EXPECT_TRUE(info.is_mutable("running_mean")) << schema;
    EXPECT_TRUE(info.is_mutable("running_var")) << schema;
    EXPECT_FALSE(info.is_mutable("weight")) << schema;
    info.addArgumentValue(flag, false);
    EXPECT_FALSE(info.is_mutable("running_mean")) << schema;
    EXPECT_FALSE(info.is_mutable()) << schema;
    info.addArgumentValue(flag, true);
    EXPECT_TRUE(info.is_mutable("running_var")) << schema;
  }
  SchemaInfo shared(kBatchNorm);
  const Tensor x = cpuTensor();
  shared.addArgumentValue("running_mean", x);
  shared.addArgumentValue("input", x);
  EXPECT_TRUE(shared.is_mutable("input"));
}

TEST(SchemaInfo, IsNondeterministicAsTheTagsSay) {
  Library m = definitions();
  m.def("draws(Tensor x) -> Tensor", {Tag::nondeterministic_seeded});
  m.def("counts(Tensor x) -> Tensor");
  EXPECT_TRUE(SchemaInfo(find("test::draws").schema()).is_nondeterministic());
  EXPECT_FALSE(SchemaInfo(find("test::counts").schema()).is_nondeterministic());
  EXPECT_FALSE(SchemaInfo("nobody::defines(Tensor self) -> Tensor").is_nondeterministic());
}

TEST(SchemaInfo, ResultsAreAliasesWhereTheirArgumentsAre) {
  SchemaInfo info(
      "aten::aminmax.out(Tensor self, *, int? dim=None, bool keepdim=False, Tensor(a!) min, Tensor(b!) max) -> "
      "(Tensor(a!) min, Tensor(b!) max)");
  EXPECT_FALSE(info.may_alias(output(0), output(1)));
  const Tensor x = cpuTensor();
  info.addArgumentValue("min", x);
  info.addArgumentValue("max", x);
  EXPECT_TRUE(info.may_alias(output(0), output(1)));
  EXPECT_TRUE(info.may_alias(input(3), output(1)));
}

TEST(SchemaInfo, AValueThatAnotherArgumentHoldsMayBeInAnything) {
  SchemaInfo info("my::f(Tensor(a) x, Tensor[] l) -> Tensor(a)");
  const Tensor x = cpuTensor();
  EXPECT_FALSE(info.may_contain_alias(input(1), input(0)));
  info.addArgumentValue("x", x);
  info.addArgumentValue("l", List<Tensor>{x});
  EXPECT_FALSE(info.may_alias(input(0), input(1)));
  EXPECT_TRUE(info.may_contain_alias(input(1), input(0)));
  EXPECT_TRUE(info.may_contain_alias(input(1), input(0), false));
  EXPECT_FALSE(info.may_contain_alias(input(0), input(1), false));
  // The result is the same list.
  EXPECT_TRUE(info.may_contain_alias(input(1), output(0), false));
  SchemaInfo other("my::f(Tensor(a) x, Tensor[] l) -> Tensor(a)");
  other.addArgumentValue("x", x);
  other.addArgumentValue("l", List<Tensor>{cpuTensor()});
  EXPECT_FALSE(other.may_contain_alias(input(1), input(0)));
}

TEST(SchemaInfo, WildcardsMayBeOneAnotherAndWhatAWildcardIsGivenIsOne) {
  SchemaInfo info("my::f(Tensor(*) a, Tensor(*) b, Tensor(c) c) -> Tensor(c)");
  EXPECT_TRUE(info.may_alias(input(0), input(1)));
  EXPECT_FALSE(info.may_alias(input(0), input(2)));
  EXPECT_FALSE(info.may_alias(input(0), output(0)));
  const Tensor x = cpuTensor();
  info.addArgumentValue("a", x);
  info.addArgumentValue("c", x);
  EXPECT_TRUE(info.may_alias(input(1), input(2)));
  EXPECT_TRUE(info.may_alias(input(1), output(0)));
}

TEST(SchemaInfo, ASetOfTwoArgumentsLeavesOpenWhichOneItIs) {
  // Each result may be either argument.
  const SchemaInfo info("my::f(Tensor(a) x, Tensor(a) y) -> (Tensor(a), Tensor(b))");
  EXPECT_TRUE(info.may_alias(input(0), input(1)));
  EXPECT_TRUE(info.may_alias(input(1), output(0)));
  EXPECT_FALSE(info.may_alias(input(1), output(1)));
  const SchemaInfo held("my::f(Tensor(a) x, Tensor(a) y, Tensor[] l) -> Tensor");
  EXPECT_TRUE(held.may_contain_alias(input(2), input(0)));
}

}  // namespace
}  // namespace boxcar
