#include <boxcar/dispatcher/registry/register_operators.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "tests/dispatcher/dispatcher_helpers.h"

// Tests registration by chained calls, as in older c10 code.

namespace boxcar {
namespace {

using Key = DispatchKey;

int64_t addOne(const Tensor&, int64_t n) { return n + 1; }
int64_t addTwo(const Tensor&, int64_t n) { return n + 2; }
void addThreeBoxed(const OperatorHandle&, Stack* stack) {
  const int64_t n = pop(*stack).toInt();
  drop(*stack, 1);
  push(*stack, n + 3);
}
struct AddFour final : OperatorKernel {
  int64_t operator()(const Tensor&, int64_t n) { return n + 4; }
};
struct Add final : OperatorKernel {
  Add(int64_t given, std::unique_ptr<int64_t> more) : by(given + *more) {}
  int64_t operator()(const Tensor&, int64_t n) { return n + by; }
  int64_t by;
};

constexpr const char* kSchema = "registered::add(Tensor x, int n) -> int";
RegisterOperators::Options options() { return RegisterOperators::options(); }

int64_t answer(const Tensor& x) { return callOp(find("registered::add"), x, 10)[0].toInt(); }
bool isThere() { return Dispatcher::singleton().findOp({"registered::add", ""}).has_value(); }

TEST(RegisterOperators, RegistersKernelsOfEveryFormForAKeyAndForAll) {
  const auto answers = [](RegisterOperators::Options&& on_cpu, RegisterOperators::Options&& for_all) {
    int64_t sum = 0;
    {
      const RegisterOperators registry = RegisterOperators().op(kSchema, std::move(on_cpu));
      sum += answer(cpuTensor());
      EXPECT_NE(errorOf([] { answer(metaTensor()); }), "no error");
    }
    {
      const RegisterOperators registry = RegisterOperators().op(kSchema, std::move(for_all));
      EXPECT_EQ(answer(cpuTensor()), answer(metaTensor()));
      sum = 100 * sum + answer(metaTensor());
    }
    EXPECT_FALSE(isThere());
    return sum;
  };
  EXPECT_EQ(answers(options().kernel<decltype(addOne), &addOne>(Key::CPU),
                    options().catchAllKernel<decltype(addOne), &addOne>()),
            1111);
  EXPECT_EQ(answers(options().kernel(Key::CPU, &addTwo), options().catchAllKernel(&addTwo)), 1212);
  EXPECT_EQ(answers(options().kernel<&addThreeBoxed>(Key::CPU), options().catchAllKernel<&addThreeBoxed>()), 1313);
  EXPECT_EQ(answers(options().kernel<AddFour>(Key::CPU), options().catchAllKernel<AddFour>()), 1414);
  EXPECT_EQ(answers(options().kernel<Add>(Key::CPU, 3, std::make_unique<int64_t>(2)),
                    options().catchAllKernel<Add>(3, std::make_unique<int64_t>(2))),
            1515);
  // As in c10, without the &.
  EXPECT_EQ(answers(options().kernel<decltype(addTwo), addTwo>(Key::CPU), options().catchAllKernel<addThreeBoxed>()),
            1213);
  const auto add_six = [](const Tensor&, int64_t n) { return n + 6; };
  EXPECT_EQ(answers(options().kernel(Key::CPU, add_six),
                    options().catchAllKernel([by = int64_t{6}](const Tensor&, int64_t n) { return n + by; })),
            1616);
}

TEST(RegisterOperators, KernelsOfOneOperatorAnswerForTheirKeys) {
  const RegisterOperators registry =
      RegisterOperators().op(options()
                                 .schema(kSchema)
                                 .kernel<decltype(addOne), &addOne>(Key::CPU)
                                 .kernel<&addThreeBoxed>(Key::CUDA)
                                 .catchAllKernel([](const Tensor&, int64_t n) { return n + 6; }));
  EXPECT_EQ(answer(cpuTensor()), 11);
  EXPECT_EQ(answer(tensorWith({Key::CUDA})), 13);
  EXPECT_EQ(answer(metaTensor()), 16);
}

TEST(RegisterOperators, AChainRegistersSeveralOperatorsWhichGoWithIt) {
  {
    RegisterOperators registry = RegisterOperators()
                                     .op(kSchema, options().catchAllKernel(&addOne))
                                     .op("registered::other", &addTwo)
                                     .op("registered::declared(Tensor x) -> Tensor");
    registry.op("registered::later", [](const Tensor& x) { return x; });
    EXPECT_EQ(answer(cpuTensor()), 11);
    EXPECT_TRUE(find("registered::declared").hasSchema());
    EXPECT_EQ(callOp(find("registered::other"), cpuTensor(), 1)[0].toInt(), 3);
    const RegisterOperators moved = std::move(registry);
    EXPECT_TRUE(find("registered::later").hasSchema());
  }
  for (const char* name : {"add", "other", "declared", "later"}) {
    EXPECT_FALSE(Dispatcher::singleton().findOp({std::string("registered::") + name, ""}).has_value()) << name;
  }
}

TEST(RegisterOperators, AnOperatorWithOneKernelIsRegisteredByTheConstructor) {
  const RegisterOperators by_function("registered::add", &addOne);
  const RegisterOperators by_lambda("registered::twice(Tensor x, int n) -> int",
                                    [](const Tensor&, int64_t n) { return 2 * n; });
  const RegisterOperators by_options("registered::three(Tensor x, int n) -> int",
                                     options().kernel<&addThreeBoxed>(Key::CPU));
  EXPECT_EQ(answer(metaTensor()), 11);
  EXPECT_EQ(callOp(find("registered::twice"), cpuTensor(), 4)[0].toInt(), 8);
  EXPECT_EQ(callOp(find("registered::three"), cpuTensor(), 4)[0].toInt(), 7);
}

TEST(RegisterOperators, ANameTakesTheSchemaOfTheFirstKernelThatHasACppType) {
  const RegisterOperators registry = RegisterOperators().op(
      "registered::add.x", options().kernel<&addThreeBoxed>(Key::CPU).kernel(Key::CUDA, &addTwo));
  EXPECT_EQ(toString(find("registered::add", "x").schema()), "registered::add.x(Tensor _0, int _1) -> int");
}

TEST(RegisterOperators, AliasAnalysisIsThatOfTheOptions) {
  const auto kindOf = [](RegisterOperators::Options&& given) {
    const RegisterOperators registry = RegisterOperators().op(std::move(given));
    return find("registered::add").schema().aliasAnalysis();
  };
  EXPECT_EQ(kindOf(options().schema(kSchema)), AliasAnalysisKind::CONSERVATIVE);
  for (const AliasAnalysisKind kind : {AliasAnalysisKind::FROM_SCHEMA, AliasAnalysisKind::PURE_FUNCTION}) {
    EXPECT_EQ(kindOf(options().aliasAnalysis(kind).schema(kSchema)), kind);
  }
  EXPECT_EQ(
      kindOf(
          options().schema("registered::add").catchAllKernel(&addOne).aliasAnalysis(AliasAnalysisKind::PURE_FUNCTION)),
      AliasAnalysisKind::PURE_FUNCTION);
}

// Returns the error of registering what [give] returns, without the place that it names.
std::string refused(auto&& give) {
  std::string text = errorOf([&] { const RegisterOperators registry = RegisterOperators().op(give()); });
  EXPECT_FALSE(isThere());
  const size_t at = text.find(" at /");
  const size_t at_relative = text.find(" at tests/");
  const size_t begin = at == std::string::npos ? at_relative : at;
  if (begin != std::string::npos) text.erase(begin, text.find_first_of(" :", text.find(".cpp:", begin) + 5) - begin);
  return text;
}

TEST(RegisterOperators, OptionsThatSayTooLittleOrTooMuchAreErrors) {
  EXPECT_EQ(refused([] { return options().catchAllKernel(&addOne); }),
            "an operator has neither a schema nor a name: give op() one, or options() by schema()");
  EXPECT_EQ(refused([] { return options().schema("registered::add"); }),
            "operator registered::add is defined by its name alone, and has no kernel: write the schema");
  EXPECT_EQ(refused([] { return options().schema("registered::add").kernel<&addThreeBoxed>(Key::CPU); }),
            "operator registered::add is defined by its name alone, but its kernels are boxed functions, whose type "
            "says nothing of arguments and returns: write the schema");
  EXPECT_EQ(refused([] { return options().schema("add(Tensor x) -> Tensor"); }),
            "operator add has no namespace: its name is 'namespace::name'");
  EXPECT_EQ(refused([] { return options().schema(kSchema).schema("registered::add"); }),
            "the options of an operator have two schemas, 'registered::add(Tensor x, int n) -> int' and "
            "'registered::add': give one, in op() or in options()");
  EXPECT_EQ(refused([] { return options().schema(kSchema).kernel(Key::CPU, &addOne).kernel(Key::CPU, &addTwo); }),
            "operator registered::add is given two kernels for CPU: keep one");
  EXPECT_EQ(refused([] { return options().schema(kSchema).catchAllKernel(&addOne).catchAllKernel(&addTwo); }),
            "operator registered::add is given two kernels for all keys: keep one");
  EXPECT_EQ(
      refused([] {
        return options().aliasAnalysis(AliasAnalysisKind::CONSERVATIVE).aliasAnalysis(AliasAnalysisKind::PURE_FUNCTION);
      }),
      "the options of an operator have two kinds of alias analysis, CONSERVATIVE and PURE_FUNCTION: give one");
  EXPECT_EQ(refused([] {
              return options()
                  .schema("registered::add")
                  .catchAllKernel(&addOne)
                  .aliasAnalysis(AliasAnalysisKind::FROM_SCHEMA);
            }),
            "operator registered::add is defined by its name alone, so FROM_SCHEMA finds no aliases in its schema: "
            "write the schema");
}

TEST(RegisterOperators, WhatContradictsLeavesNothingBehind) {
  // The type of the second kernel differs: the definition and the first kernel are removed again.
  EXPECT_NE(refused([] {
              return options().schema(kSchema).kernel(Key::CPU, &addOne).kernel(Key::CUDA, [](const Tensor&) {
                return int64_t{0};
              });
            }),
            "");
  const RegisterOperators first = RegisterOperators().op(kSchema, options().catchAllKernel(&addOne));
  EXPECT_NE(errorOf([] { const auto second = RegisterOperators().op(kSchema, options().catchAllKernel(&addTwo)); }),
            "");
  EXPECT_EQ(answer(cpuTensor()), 11);
}

}  // namespace
}  // namespace boxcar
