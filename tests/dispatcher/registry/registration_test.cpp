#include <boxcar/dispatcher/registry/library_list.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"

namespace boxcar {
namespace {

using Key = DispatchKey;
using Log = std::vector<std::string>;

Tensor identity(const Tensor& x) { return x; }

// Logs "+name" and "-name"; [then] runs after each.
class Listener final : public OpRegistrationListener {
 public:
  Listener(Log& log, std::string ns, std::function<void()> then = nullptr)
      : log_(log), ns_(std::move(ns)), then_(std::move(then)) {}
  void onOperatorRegistered(const OperatorHandle& op) override { add("+", op); }
  void onOperatorDeregistered(const OperatorHandle& op) override {
    EXPECT_TRUE(op.hasSchema());
    add("-", op);
  }

 private:
  void add(const char* sign, const OperatorHandle& op) {
    if (op.operator_name().getNamespace() != ns_) return;
    log_.push_back(sign + toString(op.operator_name()));
    if (then_) then_();
  }

  Log& log_;
  std::string ns_;
  std::function<void()> then_;
};

RegistrationHandleRAII listen(Log& log, std::string ns, std::function<void()> then = nullptr) {
  return Dispatcher::singleton().addRegistrationListener(
      std::make_unique<Listener>(log, std::move(ns), std::move(then)));
}

TEST(Listeners, AreToldOfWhatIsDefinedAlreadyAndOfEveryChange) {
  Log log;
  std::optional<Library> before = definitions("heard");
  before->def("a() -> ()");
  before->def("b() -> ()");
  {
    const RegistrationHandleRAII handle = listen(log, "heard");
    EXPECT_EQ(log, (Log{"+heard::a", "+heard::b"}));
    {
      Library m = definitions("heard");
      m.def("c.x() -> ()");
      Library kernels = implementations(Key::CPU, "heard");
      kernels.impl("c.x", CppFunction::makeFallthrough());
      EXPECT_EQ(log.back(), "+heard::c.x");
    }
    EXPECT_EQ(log, (Log{"+heard::a", "+heard::b", "+heard::c.x", "-heard::c.x"}));
  }
  before.reset();
  EXPECT_EQ(log.size(), 4U);
}

TEST(Listeners, DefinitionIsOverWhenItGoesAlthoughKernelsStay) {
  Log log;
  const RegistrationHandleRAII handle = listen(log, "heard");
  Library kernels = implementations(Key::CPU, "heard");
  kernels.impl("a", CppFunction::makeFallthrough());
  EXPECT_EQ(log, Log{});
  {
    Library m = definitions("heard");
    m.def("a(Tensor x) -> Tensor");
  }
  EXPECT_EQ(log, (Log{"+heard::a", "-heard::a"}));
}

TEST(Listeners, MayRemoveThemselvesAndEachOtherDuringACallback) {
  Log log;
  std::optional<RegistrationHandleRAII> first;
  std::optional<RegistrationHandleRAII> second;
  first = listen(log, "heard", [&] { second.reset(); });
  second = listen(log, "heard");
  std::optional<RegistrationHandleRAII> third;
  third = listen(log, "heard", [&] { third.reset(); });
  Library m = definitions("heard");
  m.def("a() -> ()");
  EXPECT_EQ(log, (Log{"+heard::a", "+heard::a"}));  // from the first and the third listener
  m.def("b() -> ()");
  EXPECT_EQ(log, (Log{"+heard::a", "+heard::a", "+heard::b"}));
}

TEST(Listeners, MayDefineAndLookUpDuringACallback) {
  Log log;
  std::optional<Library> more;
  const RegistrationHandleRAII handle = listen(log, "heard", [&] {
    EXPECT_TRUE(find("heard::a").hasSchema());
    if (more.has_value()) return;
    more = definitions("heard");
    more->def("b() -> ()");
  });
  Library m = definitions("heard");
  m.def("a() -> ()");
  EXPECT_EQ(log, (Log{"+heard::a", "+heard::b"}));
}

TEST(Listeners, DefinitionThatAListenerRefusesIsTakenBack) {
  Log log;
  const RegistrationHandleRAII handle = listen(log, "heard", [] { throw RuntimeError("the name is taken elsewhere"); });
  Log log_of_second;
  const RegistrationHandleRAII second = listen(log_of_second, "heard");
  Library m = definitions("heard");
  EXPECT_EQ(errorOf([&] { m.def("a() -> ()"); }), "the name is taken elsewhere");
  // Listeners that were not told of a definition are not told of its removal.
  EXPECT_EQ(log, Log{"+heard::a"});
  EXPECT_EQ(log_of_second, Log{});
  EXPECT_FALSE(Dispatcher::singleton().findSchema({"heard::a", ""}).has_value());
  EXPECT_EQ(errorOf([] { static_cast<void>(Dispatcher::singleton().addRegistrationListener(nullptr)); }),
            "no listener was given to addRegistrationListener");
}

TEST(WaitFor, ReturnsWhenAnotherThreadHasRegistered) {
  std::optional<Library> m;
  std::optional<Library> cpu;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    m = definitions("awaited");
    m->def("op(Tensor x) -> Tensor");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    cpu = implementations(Key::CPU, "awaited");
    cpu->impl("op", BOXCAR_FN(identity));
  });
  const FunctionSchema awaited = schema("awaited::op(Tensor x) -> Tensor");
  Dispatcher::singleton().waitForDef(awaited, std::chrono::minutes(1));
  EXPECT_TRUE(Dispatcher::singleton().findSchema({"awaited::op", ""}).has_value());
  Dispatcher::singleton().waitForImpl({"awaited::op", ""}, Key::CPU, std::chrono::minutes(1));
  EXPECT_TRUE(find("awaited::op").hasKernelForDispatchKey(Key::CPU));
  other.join();
  // There is no wait for an existing definition.
  Dispatcher::singleton().waitForDef(awaited, std::chrono::milliseconds(0));
}

TEST(WaitFor, GivesUpWithASentence) {
  const std::chrono::milliseconds soon(5);
  EXPECT_EQ(errorOf([&] { Dispatcher::singleton().waitForDef(schema("awaited::never() -> ()"), soon); }),
            "waited 5 ms for operator awaited::never to be defined, but nobody defined it; is its library loaded?");
  EXPECT_EQ(errorOf([&] {
              Dispatcher::singleton().waitForImpl({"awaited::never", "x"}, std::nullopt, soon);
            }),
            "waited 5 ms for a kernel of awaited::never.x for CompositeImplicitAutograd, but nobody registered one; is "
            "its library loaded?");
}

TEST(DanglingImpls, AreThoseOfOperatorsWithoutADefinition) {
  const auto dangling = [] {
    Log names;
    for (const OperatorHandle& op : Dispatcher::singleton().findDanglingImpls()) names.push_back(toString(op));
    return names;
  };
  const Log before = dangling();
  EXPECT_EQ(std::count(before.begin(), before.end(), "dangle::op"), 0);
  {
    Library cpu = implementations(Key::CPU, "dangle");
    cpu.impl("op", BOXCAR_FN(identity));
    const Log now = dangling();
    EXPECT_EQ(std::count(now.begin(), now.end(), "dangle::op"), 1);
    Library m = definitions("dangle");
    m.def("op(Tensor x) -> Tensor");
    EXPECT_EQ(dangling(), before);
  }
  EXPECT_EQ(dangling(), before);
}

TEST(Counts, AreThoseOfDefinitionsAndKernels) {
  Library cpu = implementations(Key::CPU, "counted");
  cpu.impl("op", BOXCAR_FN(identity));
  const OperatorHandle op = *Dispatcher::singleton().findOp({"counted::op", ""});
  EXPECT_EQ(op.entry().defCount(), 0U);
  EXPECT_EQ(op.entry().defAndImplCount(), 1U);
  {
    Library m = definitions("counted");
    m.def("op(Tensor x) -> Tensor", BOXCAR_FN(identity));
    EXPECT_EQ(op.entry().defCount(), 1U);
    EXPECT_EQ(op.entry().defAndImplCount(), 3U);
  }
  EXPECT_EQ(op.entry().defAndImplCount(), 1U);
}

TEST(Tags, BelongToTheDefinition) {
  Library m = definitions("tagged");
  m.def("draw(Tensor x) -> Tensor", {Tag::nondeterministic_seeded, Tag::pointwise});
  m.def("plain(Tensor x) -> Tensor");
  m.def("one(Tensor x) -> Tensor", {Tag::io});
  EXPECT_EQ(find("tagged::one").getTags(), std::vector<Tag>{Tag::io});
  m.def("both(Tensor x) -> Tensor", BOXCAR_FN(identity), {Tag::core});
  EXPECT_EQ(find("tagged::draw").getTags(), (std::vector<Tag>{Tag::nondeterministic_seeded, Tag::pointwise}));
  EXPECT_TRUE(find("tagged::draw").hasTag(Tag::pointwise));
  EXPECT_FALSE(find("tagged::draw").hasTag(Tag::core));
  EXPECT_TRUE(find("tagged::plain").getTags().empty());
  EXPECT_TRUE(find("tagged::both").hasTag(Tag::core));
  EXPECT_EQ(toString(Tag::nondeterministic_seeded), "nondeterministic_seeded");
}

TEST(AliasAnalysis, ComesFromTheSchemaUnlessItIsSaidOtherwise) {
  Library m = definitions("alias");
  m.def("text(Tensor x) -> Tensor");
  m.def(schema("pure(Tensor x) -> Tensor", AliasAnalysisKind::PURE_FUNCTION));
  m.def(schema("careful(Tensor x) -> Tensor", AliasAnalysisKind::CONSERVATIVE), BOXCAR_FN(identity));
  m.def("inferred", BOXCAR_FN(identity));
  const auto kindOf = [](const char* name) { return find(name).schema().aliasAnalysis(); };
  EXPECT_EQ(kindOf("alias::text"), AliasAnalysisKind::FROM_SCHEMA);
  EXPECT_EQ(kindOf("alias::pure"), AliasAnalysisKind::PURE_FUNCTION);
  EXPECT_EQ(kindOf("alias::careful"), AliasAnalysisKind::CONSERVATIVE);
  EXPECT_EQ(kindOf("alias::inferred"), AliasAnalysisKind::CONSERVATIVE);
  EXPECT_FALSE(find("alias::text").schema().isDefaultAliasAnalysisKind());
  EXPECT_TRUE(find("alias::inferred").schema().isDefaultAliasAnalysisKind());
  EXPECT_EQ(toString(AliasAnalysisKind::PURE_FUNCTION), "PURE_FUNCTION");
}

TEST(AliasAnalysis, PureFunctionHasNoAliases) {
  EXPECT_EQ(errorOf([] { schema("f(Tensor(a!) x) -> Tensor(a!)", AliasAnalysisKind::PURE_FUNCTION); }),
            "operator f cannot be a PURE_FUNCTION: its schema has alias annotations. Drop them, or leave it to "
            "FROM_SCHEMA. Schema: f(Tensor(a!) x) -> Tensor(a!)");
}

TEST(Bindings, AreMadeOnceForEachOwner) {
  Library m = definitions("bound");
  m.def("op() -> ()");
  const OperatorEntry& entry = find("bound::op").entry();
  const int python = 0;
  const int lua = 0;
  int made = 0;
  const auto make = [&] { return std::make_shared<int>(++made); };
  const auto first = entry.binding(&python, make);
  EXPECT_EQ(entry.binding(&python, make), first);
  EXPECT_NE(entry.binding(&lua, make), first);
  EXPECT_EQ(made, 2);
}

TEST(ReportError, CallbackIsToldOfTheKeyAndMayThrowItsOwn) {
  Library m = definitions("reported");
  m.def("op(Tensor x) -> Tensor");
  const OperatorHandle op = find("reported::op");
  const auto call = [&] { op.typed<Tensor(const Tensor&)>().call(cpuTensor()); };
  Log log;
  op.entry().setReportErrorCallback([&](const OperatorHandle& of, DispatchKey key) {
    log.push_back(toString(of) + " " + std::string(toString(key)));
  });
  EXPECT_NE(errorOf(call).find("could not run reported::op for dispatch key CPU"), std::string::npos);
  EXPECT_EQ(log, Log{"reported::op CPU"});
  op.entry().setReportErrorCallback(
      [](const OperatorHandle&, DispatchKey) { throw RuntimeError("torch has it under another name"); });
  EXPECT_EQ(errorOf(call), "torch has it under another name");
  EXPECT_EQ(errorOf([&] { op.typed<Tensor(const Tensor&)>().call(metaTensor()); }), "torch has it under another name");
  op.entry().setReportErrorCallback(nullptr);
  EXPECT_NE(errorOf(call).find("could not run"), std::string::npos);
}

TEST(CallForDispatchKey, ReachesTheKernelOfTheKeyWhateverTheArgumentsAre) {
  Library m = definitions("direct");
  m.def("op(Tensor x) -> int");
  Library cpu = implementations(Key::CPU, "direct");
  cpu.impl("op", [](const Tensor&) { return int64_t{1}; });
  Library cuda = implementations(Key::CUDA, "direct");
  cuda.impl("op", [n = int64_t{2}](DispatchKeySet keys, const Tensor&) { return keys.has(Key::CPU) ? n : 0; });
  const OperatorHandle op = find("direct::op");
  const auto callFor = [&](Key key) {
    Stack stack{IValue("below"), IValue(cpuTensor())};
    Dispatcher::singleton().callBoxedForDispatchKey(op, key, &stack);
    EXPECT_EQ(stack.size(), 2U);
    return pop(stack).toInt();
  };
  EXPECT_EQ(callFor(Key::CPU), 1);
  EXPECT_EQ(callFor(Key::CUDA), 2);
  EXPECT_EQ(errorOf([&] { callFor(Key::Tracer); }),
            "direct::op has no kernel that was registered for Tracer, and the key has no fallback. The operator has "
            "kernels for: CUDA, CPU. Ask for one of these, or register one for the key");
  Library fallback = fallbacks(Key::Tracer);
  fallback.fallback(CppFunction::makeFromBoxedFunctor([](const OperatorHandle&, Stack& stack) {
    drop(stack, 1);
    push(stack, int64_t{3});
  }));
  EXPECT_EQ(callFor(Key::Tracer), 3);
  EXPECT_TRUE(Dispatcher::singleton().hasBackendFallbackForDispatchKey(Key::Tracer));
  EXPECT_FALSE(Dispatcher::singleton().hasBackendFallbackForDispatchKey(Key::CPU));
  // A fallthrough continues below its own key.
  Library through = implementations(Key::AutogradCPU, "direct");
  through.impl("op", CppFunction::makeFallthrough());
  EXPECT_EQ(callFor(Key::AutogradCPU), 1);
  Stack empty;
  EXPECT_EQ(
      errorOf([&] { op.callBoxedForDispatchKey(Key::CPU, empty); }),
      "direct::op() takes 1 arguments, but the stack holds 0 values; push all arguments, those with defaults too. "
      "Schema: direct::op(Tensor x) -> int");
}

TEST(DispatcherCalls, AreTheHandlesOwn) {
  Library m = definitions("spelt");
  m.def("op(Tensor x, int n) -> int", [](const Tensor&, int64_t n) { return n + 1; });
  const OperatorHandle op = find("spelt::op");
  const auto typed = op.typed<int64_t(const Tensor&, int64_t)>();
  const Dispatcher& dispatcher = Dispatcher::singleton();
  const Tensor x = cpuTensor();
  EXPECT_EQ(dispatcher.call(typed, x, 1), 2);
  EXPECT_EQ(dispatcher.redispatch(typed, DispatchKeySet(Key::CPU), x, 2), 3);
  Stack stack{IValue(x), IValue(3)};
  dispatcher.callBoxed(op, &stack);
  EXPECT_EQ(pop(stack).toInt(), 4);
  push(stack, x, 4);
  dispatcher.redispatchBoxed(op, DispatchKeySet(Key::CPU), &stack);
  EXPECT_EQ(pop(stack).toInt(), 5);
}

TEST(ComputedKernels, AreOwnOnesAndThoseOfAliases) {
  Library m = definitions("computed");
  m.def("op(Tensor x) -> Tensor", BOXCAR_FN(identity));
  const OperatorHandle op = find("computed::op");
  EXPECT_TRUE(op.hasComputedKernelForDispatchKey(Key::CPU));
  EXPECT_FALSE(op.hasKernelForDispatchKey(Key::CPU));
  EXPECT_FALSE(op.hasComputedKernelForDispatchKey(Key::Tracer));
  EXPECT_TRUE(op.hasComputedKernelForDispatchKey(Key::ADInplaceOrView));  // a fallthrough
  EXPECT_EQ(errorOf([&] { static_cast<void>(op.hasComputedKernelForDispatchKey(Key::Autograd)); }),
            "Autograd is an alias key, and has no kernel itself; ask for one of its keys");
}

TEST(AllowList, LeavesOutWhatABlockDefinesAndImplementsBesideIt) {
  static detail::LibraryBlock block{detail::LibraryKind::Fragment,
                                    Key::CatchAll,
                                    "allowed",
                                    [](Library&) {},
                                    "allowed.cpp",
                                    1,
                                    "allowed::kept;allowed::kept.other;allowed::inferred"};
  Library m(block);
  m.def("kept(Tensor x) -> Tensor");
  m.def("kept.other(Tensor x) -> Tensor");
  m.def("kept.third(Tensor x) -> Tensor");
  m.def("ke(Tensor x) -> Tensor");
  m.def("dropped(Tensor x) -> Tensor", BOXCAR_FN(identity));
  m.def("inferred", BOXCAR_FN(identity));
  m.impl("kept", dispatch(Key::CPU, BOXCAR_FN(identity)));
  m.impl("dropped", dispatch(Key::CPU, BOXCAR_FN(identity)));
  Log names;
  for (const OperatorName& name : Dispatcher::singleton().getAllOpNames()) {
    if (name.getNamespace() == "allowed") names.push_back(toString(name));
  }
  EXPECT_EQ(names, (Log{"allowed::kept", "allowed::kept.other", "allowed::inferred"}));
  EXPECT_TRUE(find("allowed::kept").hasKernelForDispatchKey(Key::CPU));
  EXPECT_FALSE(Dispatcher::singleton().findOp({"allowed::dropped", ""}).has_value());
}

TEST(Definitions, KeepTheirSchemaWhereItIsWhenTheyGo) {
  const FunctionSchema* kept = nullptr;
  for (int i = 0; i < 3; ++i) {
    Library m = definitions("again");
    m.def("op(Tensor x, int n=3) -> Tensor");
    const FunctionSchema& now = find("again::op").schema();
    if (i != 0) {
      EXPECT_EQ(&now, kept);
    }
    kept = &now;
  }
  EXPECT_EQ(toString(*kept), "again::op(Tensor x, int n=3) -> Tensor");
  Library m = definitions("again");
  m.def("op(Tensor x, int n=4) -> Tensor");
  EXPECT_EQ(toString(find("again::op").schema()), "again::op(Tensor x, int n=4) -> Tensor");
  EXPECT_EQ(toString(*kept), "again::op(Tensor x, int n=3) -> Tensor");
}

TEST(Definitions, SayTheAliasAnalysisThatTheyWereMadeWith) {
  for (const AliasAnalysisKind kind : {AliasAnalysisKind::PURE_FUNCTION, AliasAnalysisKind::CONSERVATIVE}) {
    Library m = definitions("again");
    m.def(schema("alias(Tensor x) -> Tensor", kind));
    EXPECT_EQ(find("again::alias").schema().aliasAnalysis(), kind);
  }
}

TEST(InferenceModes, HoldOnExceptions) {
  const LocalDispatchKeySet before = tls_local_dispatch_key_set();
  try {
    const InferenceMode inference;
    const AutoDispatchBelowADInplaceOrView below;
    throw std::runtime_error("out");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(tls_local_dispatch_key_set().included_, before.included_);
  EXPECT_EQ(tls_local_dispatch_key_set().excluded_, before.excluded_);
}

TEST(LocalKeySets, AreAskedAndForcedWhole) {
  const DispatchKeySet both({Key::Tracer, Key::VmapMode});
  EXPECT_FALSE(tls_is_dispatch_keyset_included(both));
  const IncludeDispatchKeyGuard include(both);
  EXPECT_TRUE(tls_is_dispatch_keyset_included(both));
  const LocalDispatchKeySet saved = tls_local_dispatch_key_set();
  const ExcludeDispatchKeyGuard exclude(both);
  EXPECT_TRUE(tls_is_dispatch_keyset_excluded(both));
  {
    const ForceDispatchKeyGuard force(saved);
    EXPECT_FALSE(tls_is_dispatch_keyset_excluded(both));
    EXPECT_TRUE(tls_is_dispatch_keyset_included(both));
  }
  EXPECT_TRUE(tls_is_dispatch_keyset_excluded(both));
}

TEST(InferenceModes, SwitchAutogradOffAndOnAgainInScopes) {
  const LocalDispatchKeySet before = tls_local_dispatch_key_set();
  EXPECT_FALSE(InferenceMode::is_enabled());
  {
    const InferenceMode inference;
    EXPECT_TRUE(InferenceMode::is_enabled());
    EXPECT_TRUE(tls_is_dispatch_key_excluded(Key::AutogradCPU));
    EXPECT_FALSE(tls_is_dispatch_key_included(Key::ADInplaceOrView));
    {
      const InferenceMode off(false);
      EXPECT_FALSE(InferenceMode::is_enabled());
      EXPECT_FALSE(tls_is_dispatch_key_excluded(Key::AutogradCPU));
      EXPECT_TRUE(tls_is_dispatch_key_included(Key::ADInplaceOrView));
    }
    EXPECT_TRUE(InferenceMode::is_enabled());
  }
  EXPECT_EQ(tls_local_dispatch_key_set().included_, before.included_);
  EXPECT_EQ(tls_local_dispatch_key_set().excluded_, before.excluded_);
}

TEST(GenericMode, IsSwitchedForTests) {
  Library fallback = fallbacks(Key::TESTING_ONLY_GenericMode);
  int calls = 0;
  fallback.fallback(CppFunction::makeFromBoxedFunctor([&](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    ++calls;
    op.redispatchBoxed(keys.remove(Key::TESTING_ONLY_GenericMode), stack);
  }));
  Library m = definitions("generic");
  m.def("op(Tensor x) -> Tensor", BOXCAR_FN(identity));
  const auto op = find("generic::op").typed<Tensor(const Tensor&)>();
  TESTING_ONLY_tls_generic_mode_set_enabled(true);
  op.call(cpuTensor());
  TESTING_ONLY_tls_generic_mode_set_enabled(false);
  op.call(cpuTensor());
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace boxcar
