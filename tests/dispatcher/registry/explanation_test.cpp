#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/registry/entry_text.h>
#include <boxcar/dispatcher/registry/explanation.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"

namespace boxcar {
namespace {

using Key = DispatchKey;
using Keys = std::vector<DispatchKeySet>;

const DispatchKeySet kCpu({Key::CPU, Key::ADInplaceOrView});
const DispatchKeySet kCuda({Key::CUDA, Key::ADInplaceOrView});
const DispatchKeySet kCpuWithGrad({Key::CPU, Key::ADInplaceOrView, Key::AutogradCPU});

Tensor first(const Tensor& a, const Tensor&) { return a; }

CppFunction boxed() {
  return CppFunction::makeFromBoxedFunctor([](const OperatorHandle&, Stack&) {});
}

class ExplanationTest : public ::testing::Test {
 protected:
  ExplanationTest() {
    m_.def("pick(Tensor a, int n, Tensor b) -> Tensor");
    cpu_.impl("pick", boxed());
  }

  OperatorHandle op() const { return find("explained::pick"); }
  DispatchExplanation explain(DispatchKeySet a, DispatchKeySet b) const { return explainDispatch(op(), Keys{a, b}); }

 private:
  Library m_ = definitions("explained");
  Library cpu_ = implementations(Key::CPU, "explained");
};

std::vector<std::string> passedKeys(const DispatchExplanation& explanation) {
  std::vector<std::string> names;
  for (const PassedKey& passed : explanation.passed) names.emplace_back(toString(passed.key));
  return names;
}

TEST_F(ExplanationTest, TellsWhatEachArgumentBringsAndWhereTheCallEnds) {
  EXPECT_EQ(toString(explain(kCpu, kCpuWithGrad)),
            "explained::pick(Tensor a, int n, Tensor b) -> Tensor\n"
            "argument 'a' (position 1, Tensor) brings: CPU, ADInplaceOrView\n"
            "argument 'b' (position 3, Tensor) brings: CPU, ADInplaceOrView, AutogradCPU\n"
            "together: CPU, ADInplaceOrView, AutogradCPU\n"
            "this thread includes: BackendSelect, ADInplaceOrView\n"
            "this thread excludes: the autocast keys, as every thread at its start\n"
            "passed over: AutogradCPU, which lets the call through by default\n"
            "passed over: ADInplaceOrView, which lets the call through by default\n"
            "passed over: BackendSelect, which lets the call through by default\n"
            "dispatched to: CPU, which runs the kernel registered for CPU at test.cpp:2\n");
}

TEST_F(ExplanationTest, OfAStackIsThatOfItsValuesKeys) {
  const Stack stack{IValue("below"), IValue(tensorWith({Key::CPU, Key::Negative})), IValue(1), IValue(cpuTensor())};
  const DispatchExplanation explanation = explainDispatch(op(), stack);
  ASSERT_EQ(explanation.arguments.size(), 2U);
  EXPECT_EQ(explanation.arguments[0].keys, DispatchKeySet({Key::CPU, Key::Negative}));
  EXPECT_EQ(explanation.arguments[1].index, 2U);
  EXPECT_EQ(explanation.arguments[1].keys, kCpu);
  EXPECT_EQ(explanation.chosen, Key::Negative);
  EXPECT_EQ(explanation.table_entry.cause, EntryCause::Missing);
}

TEST_F(ExplanationTest, AgreesWithWhatTheCallLooksUp) {
  Library tracer = implementations(Key::Tracer, "explained");
  tracer.impl("pick", CppFunction::makeFallthrough());
  Library negative = implementations(Key::Negative, "explained");
  negative.impl("pick", boxed());
  const IncludeDispatchKeyGuard include(DispatchKeySet({Key::Tracer, Key::Functionalize}));
  for (const DispatchKeySet a : {DispatchKeySet(), kCpu, kCuda, kCpuWithGrad, kCpu.add(Key::Negative)}) {
    for (const DispatchKeySet b : {DispatchKeySet(), kCpu, kCuda.add(Key::AutogradCUDA)}) {
      for (const Key excluded : {Key::Undefined, Key::Functionalize, Key::Negative, Key::Dense}) {
        const ExcludeDispatchKeyGuard exclude(excluded);
        const DispatchExplanation explanation = explain(a, b);
        const DispatchKeySet keys =
            detail::computeDispatchKeySet(a | b, op().entry().dispatchKeyExtractor().nonFallthroughKeys());
        EXPECT_EQ(explanation.keys, keys);
        EXPECT_EQ(explanation.table_entry.kernel, op().entry().lookupBelowFallthroughs(keys).first);
      }
    }
  }
}

TEST_F(ExplanationTest, SaysWhyHigherKeysArePassedOver) {
  Library tracer = implementations(Key::Tracer, "explained", 7);
  tracer.impl("pick", CppFunction::makeFallthrough());
  Library autograd = implementations(Key::Autograd, "explained", 8);
  autograd.impl("pick", CppFunction::makeFallthrough());
  Library named = fallbacks(Key::Named, 9);
  named.fallback(CppFunction::makeFallthrough());
  const IncludeDispatchKeyGuard include(DispatchKeySet({Key::Tracer, Key::Named, Key::PreDispatch}));
  const ExcludeDispatchKeyGuard exclude(DispatchKeySet({Key::PreDispatch, Key::ADInplaceOrView}));
  const std::string text = toString(explain(kCpuWithGrad, kCpu));
  EXPECT_NE(
      text.find("passed over: PreDispatch, which this thread excludes\n"
                "passed over: Tracer, which lets the call through by the fallthrough registered for Tracer at "
                "test.cpp:7\n"
                "passed over: AutogradCPU, which lets the call through by the fallthrough registered for Autograd, "
                "which covers AutogradCPU, at test.cpp:8\n"
                "passed over: ADInplaceOrView, which this thread excludes\n"
                "passed over: Named, which lets the call through by the fallback of Named, registered at test.cpp:9\n"
                "passed over: BackendSelect, which lets the call through by default\n"
                "dispatched to: CPU, "),
      std::string::npos)
      << text;
}

TEST_F(ExplanationTest, FallthroughOfOneBackendIsPassedOver) {
  Library autograd = implementations(Key::AutogradCUDA, "explained");
  autograd.impl("pick", boxed());
  // The mask must include autograd now, but the table entry of the CPU still falls through.
  const DispatchExplanation explanation = explain(kCpuWithGrad, {});
  EXPECT_TRUE(explanation.keys.has(Key::AutogradCPU));
  EXPECT_EQ(passedKeys(explanation), (std::vector<std::string>{"AutogradCPU", "ADInplaceOrView", "BackendSelect"}));
  EXPECT_EQ(explanation.chosen, Key::CPU);
}

TEST_F(ExplanationTest, OfSeveralBackendsTheHighestIsNamed) {
  const std::string text = toString(explain(kCpu, kCuda));
  EXPECT_NE(
      text.find("the highest of several backends serves the call: CUDA before CPU\n"
                "dispatched to: CUDA, which has no kernel\n"
                "the operator has kernels for: CPU\n"
                "the call would be served by: a kernel for CUDA or for an alias of it (CompositeImplicitAutograd, "
                "CompositeExplicitAutograd, CompositeExplicitAutogradNonFunctional), or a fallback at CUDA\n"),
      std::string::npos)
      << text;
}

TEST_F(ExplanationTest, ACompositeThatIsWithdrawnIsNoRemedy) {
  Library explicit_one = implementations(Key::CompositeExplicitAutograd, "explained", 5);
  explicit_one.impl("pick", boxed());
  Library implicit_one = implementations(Key::CompositeImplicitAutograd, "explained", 6);
  implicit_one.impl("pick", boxed());
  const std::string text = toString(explain(DispatchKeySet(Key::NestedTensorCPU), {}));
  EXPECT_NE(text.find("dispatched to: NestedTensorCPU, which has no kernel\n"
                      "the operator has kernels for: CompositeImplicitAutograd, CompositeExplicitAutograd, CPU\n"
                      "the call would be served by: a kernel for NestedTensorCPU or for an alias of it "
                      "(CompositeImplicitAutogradNestedTensor), or a fallback at NestedTensorCPU\n"),
            std::string::npos)
      << text;
}

TEST_F(ExplanationTest, WithoutKeysTheCallEndsAtUndefined) {
  EXPECT_NE(toString(explain({}, {}))
                .find("dispatched to: Undefined, as no key is left; it has no kernel\n"
                      "the operator has kernels for: CPU\n"
                      "the call would be served by: a kernel for CompositeImplicitAutograd or "
                      "CompositeExplicitAutograd or CompositeExplicitAutogradNonFunctional\n"),
            std::string::npos);
  Library composite = implementations(Key::CompositeExplicitAutograd, "explained", 5);
  composite.impl("pick", boxed());
  const DispatchExplanation explanation = explain({}, {});
  EXPECT_EQ(explanation.chosen, Key::Undefined);
  EXPECT_NE(toString(explanation)
                .find("dispatched to: Undefined, as no key is left; it runs the kernel registered for "
                      "CompositeExplicitAutograd, which covers calls without a key, at test.cpp:5\n"),
            std::string::npos);
}

TEST_F(ExplanationTest, ModesOfTheThreadStandAboveEverything) {
  const ModeGuard mode(
      [](const OperatorHandle& called, DispatchKeySet keys, Stack& stack) { called.redispatchBoxed(keys, stack); });
  const DispatchExplanation explanation = explain(kCpu, kCpu);
  EXPECT_EQ(explanation.chosen, Key::PreDispatch);
  EXPECT_EQ(describeEntry(explanation.chosen, explanation.table_entry),
            "runs this thread's modes, the innermost first");
}

TEST_F(ExplanationTest, ListsAllThatTheOperatorLetsThrough) {
  Library tracer = implementations(Key::Tracer, "explained", 7);
  tracer.impl("pick", CppFunction::makeFallthrough());
  size_t by_default = 0;
  for (const PassedKey& through : explain(kCpu, kCpu).lets_through) {
    if (through.table_entry.cause == EntryCause::Default) {
      ++by_default;
      continue;
    }
    EXPECT_EQ(through.key, Key::Tracer);
    EXPECT_EQ(through.table_entry.site.line, 7U);
  }
  EXPECT_EQ(by_default, 14U);  // BackendSelect, ADInplaceOrView, three for autograd, seven for autocast, two for vmap
}

// While it lives, [describe] says what calls meet at [key].
class DescriberGuard final {
 public:
  DescriberGuard(Key key, LevelDescriber describe) : key_(key) { setLevelDescriber(key, describe); }
  ~DescriberGuard() { setLevelDescriber(key_, nullptr); }
  DescriberGuard(const DescriberGuard&) = delete;
  DescriberGuard& operator=(const DescriberGuard&) = delete;

 private:
  Key key_;
};

// A level at Tracer, which the thread includes.
class ExplanationOfLevels : public ExplanationTest {
 protected:
  ExplanationOfLevels() { tracer_.fallback(boxed()); }

  // The lines from where the call gets to first.
  std::string way() const {
    const std::string text = toString(explain(kCpu, kCpuWithGrad));
    return text.substr(text.find("dispatched to"));
  }

  const std::string at_tracer_ = "dispatched to: Tracer, which runs the fallback of Tracer, registered at test.cpp:3\n";
  const std::string at_cpu_ = "CPU, which runs the kernel registered for CPU at test.cpp:2\n";

 private:
  Library tracer_ = fallbacks(Key::Tracer);
  IncludeDispatchKeyGuard included_{Key::Tracer};
};

TEST_F(ExplanationOfLevels, AKernelThatNobodyDescribesMayPassTheCallOn) {
  EXPECT_EQ(way(), at_tracer_ + "  a redispatch goes on with: CPU\nthen: " + at_cpu_);
}

TEST_F(ExplanationOfLevels, ADescribedKernelSaysWhatItDoes) {
  const DescriberGuard describer(Key::Tracer, [](LevelCall& call) {
    call.effect = "has " + enumerated(std::vector{call.arguments[0].name, call.arguments[1].name});
  });
  EXPECT_EQ(way(), at_tracer_ + "  has a and b\n  goes on with: CPU\nthen: " + at_cpu_);
  const DispatchExplanation explanation = explain(kCpu, kCpu);
  ASSERT_EQ(explanation.levels.size(), 2U);
  EXPECT_EQ(explanation.levels[0].key, explanation.chosen);
  EXPECT_EQ(explanation.levels[1].key, Key::CPU);
  EXPECT_EQ(explanation.levels[1].next, LevelCall::Next::kEnd);
}

TEST_F(ExplanationOfLevels, ACallThatIsMadeAnewIsOnOtherArguments) {
  Library cuda = implementations(Key::CUDA, "explained", 8);
  cuda.impl("pick", boxed());
  const DescriberGuard describer(Key::Tracer, [](LevelCall& call) {
    for (ArgumentKeys& argument : call.arguments) argument.keys = kCuda;
    call.effect = "moves all";
    call.next = LevelCall::Next::kAnew;
    call.excluded = DispatchKeySet(Key::Tracer);
  });
  EXPECT_EQ(way(), at_tracer_ + "  moves all\n  its calls, if of explained::pick, go on with: CUDA\n" +
                       "then: CUDA, which runs the kernel registered for CUDA at test.cpp:8\n");
}

TEST_F(ExplanationOfLevels, AnotherOperatorMayBeCalledInstead) {
  Library m = definitions("explained");
  m.def("take(Tensor b) -> Tensor");
  Library cpu = implementations(Key::CPU, "explained", 9);
  cpu.impl("take", boxed());
  const DescriberGuard describer(Key::Tracer, [](LevelCall& call) {
    call.goOnAs(find("explained::take"));
    ASSERT_EQ(call.arguments.size(), 1U);
    EXPECT_EQ(call.arguments[0].index, 0U);
    EXPECT_EQ(call.arguments[0].keys, kCpuWithGrad);
    call.effect = "takes b";
  });
  EXPECT_EQ(way(), at_tracer_ + "  takes b\n  goes on with: CPU\nthen: explained::take at CPU, which runs the kernel " +
                       "registered for CPU at test.cpp:9\n");
}

TEST_F(ExplanationOfLevels, ACallMayEndAboveTheBackend) {
  const DescriberGuard describer(Key::Tracer, [](LevelCall& call) {
    call.effect = "refuses the call";
    call.next = LevelCall::Next::kEnd;
  });
  EXPECT_EQ(way(), at_tracer_ + "  refuses the call\n");
}

TEST_F(ExplanationOfLevels, AnOperatorThatIsMadeOfOthersMakesCallsOfItsOwn) {
  Library composite = implementations(Key::CompositeImplicitAutograd, "explained", 6);
  composite.impl("pick", boxed());
  const std::string text = toString(explain(DispatchKeySet({Key::CUDA}), {}));
  EXPECT_NE(
      text.find("then: CUDA, which runs the kernel registered for CompositeImplicitAutograd, which covers CUDA, at "
                "test.cpp:6\n  is made of other operators\n  its calls begin at the top\n"),
      std::string::npos)
      << text;
}

TEST_F(ExplanationOfLevels, ADescriberThatGoesRoundInCirclesEnds) {
  const DescriberGuard describer(Key::Tracer, [](LevelCall& call) {
    call.effect = "calls itself";
    call.next = LevelCall::Next::kAnew;
  });
  EXPECT_EQ(explain(kCpu, kCpu).levels.size(), 32U);
}

TEST_F(ExplanationTest, ModesMayPassTheCallOn) {
  const ModeGuard mode(
      [](const OperatorHandle& called, DispatchKeySet keys, Stack& stack) { called.redispatchBoxed(keys, stack); });
  const std::string text = toString(explain(kCpu, kCpu));
  EXPECT_NE(text.find("innermost first\n  a redispatch goes on with: CPU\nthen: CPU, "), std::string::npos) << text;
}

TEST_F(ExplanationTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(errorOf([&] { explainDispatch(op(), Keys{kCpu}); }),
            "explained::pick is dispatched on 2 of its arguments, but the keys of 1 were given; give one set for each: "
            "explained::pick(Tensor a, int n, Tensor b) -> Tensor");
  EXPECT_EQ(errorOf([&] { explainDispatch(op(), Stack{IValue(cpuTensor())}); }),
            "the dispatch of explained::pick cannot be explained: it takes 3 arguments, but the stack holds 1 values");
}

TEST(Explanation, ListsGeneratorsOptionalsAndListsAmongTheArguments) {
  Library m = definitions("explained");
  m.def("all(Tensor?[] xs, Generator? g, Tensor? t, Any a, str s) -> ()");
  std::vector<std::string> names;
  for (const ArgumentKeys& argument : dispatchArgumentsOf(find("explained::all").schema()))
    names.push_back(argument.name);
  EXPECT_EQ(names, (std::vector<std::string>{"xs", "g", "t"}));
}

TEST(Explanation, EnumeratesWords) {
  const std::vector<std::string> words = {"a", "b", "c"};
  EXPECT_EQ(enumerated({}), "");
  EXPECT_EQ(enumerated(std::span(words).first(1)), "a");
  EXPECT_EQ(enumerated(std::span(words).first(2)), "a and b");
  EXPECT_EQ(enumerated(words), "a, b and c");
}

TEST(Explanation, NamedTensorsAreRefusedByASentence) {
  Library m = definitions("explained");
  m.def("plain(Tensor x) -> Tensor");
  Library cpu = implementations(Key::CPU, "explained");
  cpu.impl("plain", [](const Tensor& x) { return x; });
  EXPECT_EQ(errorOf([] {
              callOp(find("explained::plain"), tensorWith({Key::CPU, Key::Named}));
            }),
            "explained::plain does not take tensors with named dimensions, as PyTorch removed them: give dimensions by "
            "their numbers, and take the key Named off the tensor");
}

TEST(Explanation, ListsKeysWithAndWithoutBackends) {
  EXPECT_EQ(listKeys(kCpuWithGrad), "CPU, ADInplaceOrView, AutogradCPU");
  EXPECT_EQ(listKeys(autograd_dispatch_keyset), "AutogradOther, AutogradFunctionality, AutogradNestedTensor");
  EXPECT_EQ(listKeys({}), "none");
}

TEST(EntryText, NamesEveryCauseAndKind) {
  const auto kindOf = [](const Kernel& kernel) { return kernelKindOf({&kernel, EntryCause::Default}); };
  EXPECT_EQ(toString(EntryCause::Undefined), "undefined");
  EXPECT_EQ(toString(EntryCause::Exact), "exact");
  EXPECT_EQ(toString(EntryCause::Alias), "alias");
  EXPECT_EQ(toString(EntryCause::Fallback), "fallback");
  EXPECT_EQ(toString(EntryCause::Default), "default");
  EXPECT_EQ(toString(EntryCause::Missing), "missing");
  EXPECT_EQ(toString(EntryCause::Ambiguous), "ambiguous");
  EXPECT_EQ(kindOf(detail::kFallthroughKernel), "fallthrough");
  EXPECT_EQ(kindOf(detail::kMissingKernel), "missing");
  EXPECT_EQ(kindOf(detail::kModesKernel), "modes");
  EXPECT_EQ(kindOf(detail::kNamedNotSupportedKernel), "named");
  EXPECT_EQ(kindOf(detail::kAmbiguousAutogradKernel), "ambiguous");
  EXPECT_EQ(kindOf(detail::kUndefinedOperatorKernel), "undefined");

  Library m = definitions("explained");
  m.def("two(Tensor a, Tensor b) -> Tensor");
  Library cpu = implementations(Key::CPU, "explained");
  cpu.impl("two", BOXCAR_FN(first));
  Library meta = implementations(Key::Meta, "explained");
  meta.impl("two", boxed());
  const OperatorHandle two = find("explained::two");
  EXPECT_EQ(kernelKindOf(Dispatcher::singleton().computeTableEntry(two, Key::CPU)), "unboxed");
  EXPECT_EQ(kernelKindOf(Dispatcher::singleton().computeTableEntry(two, Key::Meta)), "boxed");
}

}  // namespace
}  // namespace boxcar
