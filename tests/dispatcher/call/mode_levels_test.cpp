#include <boxcar/dispatcher/call/hidden_calls.h>
#include <boxcar/dispatcher/call/mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"

// Modes at levels other than PreDispatch and Python.

namespace boxcar {
namespace {

using Key = DispatchKey;
using Log = std::vector<std::string>;

Log* fallback_log = nullptr;
void logFallback(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  fallback_log->push_back("fallback");
  op.redispatchBoxed(keys.remove(Key::TESTING_ONLY_GenericMode), stack);
}

class ModeLevelsTest : public ::testing::Test {
 protected:
  ModeLevelsTest() {
    m_.def("leaf(Tensor x) -> Tensor");
    m_.def("twice(Tensor x) -> Tensor", [](const Tensor& x) { return call(call(x)); });
    cpu_.impl("leaf", [this](const Tensor& x) { return log_.push_back("kernel"), x; });
  }

  static Tensor call(const Tensor& x, const char* name = "level::leaf") {
    return find(name).typed<Tensor(const Tensor&)>().call(x);
  }
  // A mode that logs its level and redispatches.
  std::unique_ptr<ModeGuard> logger(Key level, std::string name = "", bool sees_calls_below = false) {
    if (name.empty()) name = toString(level);
    return std::make_unique<ModeGuard>(
        [this, name](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
          log_.push_back(name + (op.operator_name().name == "level::twice" ? " twice" : ""));
          op.redispatchBoxed(keys, stack);
        },
        ModeOptions{.key = level, .sees_calls_below = sees_calls_below});
  }
  Log takeLog() { return std::exchange(log_, {}); }

  Log log_;
  Tensor x_ = cpuTensor();

 private:
  Library m_ = definitions("level");
  Library cpu_ = implementations(Key::CPU, "level");
};

TEST_F(ModeLevelsTest, EachSeesACallWhereItStandsFromTheHighestToTheLowest) {
  std::vector<std::unique_ptr<ModeGuard>> guards;
  Log expected;
  // In an order that is not that of the levels.
  for (int i = 0; i < num_functionality_keys; ++i) {
    const auto level = static_cast<Key>(i * 7 % num_functionality_keys);
    if (whyNoModeAt(level).empty()) guards.push_back(logger(level));
  }
  for (int i = num_functionality_keys - 1; i > 0; --i) {
    const auto level = static_cast<Key>(i);
    // This thread excludes those of autocast.
    if (whyNoModeAt(level).empty() && !autocast_dispatch_keyset.has(level)) expected.emplace_back(toString(level));
  }
  EXPECT_EQ(guards.size(), static_cast<size_t>(num_functionality_keys) - 2);  // Undefined and PythonDispatcher
  expected.emplace_back("kernel");
  call(x_);
  EXPECT_EQ(takeLog(), expected);
  guards.clear();
  call(x_);
  EXPECT_EQ(takeLog(), Log{"kernel"});
  EXPECT_EQ(tls_local_dispatch_key_set().included_, default_included_set);
}

TEST_F(ModeLevelsTest, TheInnermostOfALevelRunsFirst) {
  const auto outer = logger(Key::Tracer, "outer");
  const auto below = logger(Key::Dense, "below");
  const auto inner = logger(Key::Tracer, "inner");
  EXPECT_EQ(modeCount(Key::Tracer), 2U);
  EXPECT_EQ(modeCount(Key::Dense), 1U);
  EXPECT_TRUE(hasModesBelow(Key::Tracer));
  EXPECT_FALSE(hasModesBelow(Key::Dense));
  call(x_);
  EXPECT_EQ(takeLog(), (Log{"inner", "outer", "below", "kernel"}));
}

TEST_F(ModeLevelsTest, TheLevelsOwnKernelComesAfterItsModesIfTheCallHasTheLevel) {
  Library own = implementations(Key::AutogradCPU, "level");
  own.impl("leaf", [this](DispatchKeySet keys, const Tensor& x) {
    log_.push_back("own");
    return find("level::leaf").typed<Tensor(const Tensor&)>().redispatch(keys & after_autograd_keyset, x);
  });
  const auto mode = logger(Key::AutogradFunctionality, "mode");
  call(x_);
  EXPECT_EQ(takeLog(), (Log{"mode", "kernel"}));
  call(tensorWith({Key::CPU, Key::AutogradCPU}));
  EXPECT_EQ(takeLog(), (Log{"mode", "own", "kernel"}));
  const IncludeDispatchKeyGuard includes(Key::AutogradFunctionality);
  call(x_);
  EXPECT_EQ(takeLog(), (Log{"mode", "own", "kernel"}));
}

TEST_F(ModeLevelsTest, AFallbackOfTheLevelIsOfNoConcernToCallsWithoutIt) {
  Library fallback = fallbacks(Key::TESTING_ONLY_GenericMode);
  fallback_log = &log_;
  fallback.fallback(CppFunction::makeFromBoxedFunction<&logFallback>());
  const auto mode = logger(Key::TESTING_ONLY_GenericMode, "mode");
  call(x_);
  EXPECT_EQ(takeLog(), (Log{"mode", "kernel"}));
  {
    const IncludeDispatchKeyGuard includes(Key::TESTING_ONLY_GenericMode);
    EXPECT_TRUE(tls_is_dispatch_key_included(Key::TESTING_ONLY_GenericMode));
    call(x_);
    EXPECT_EQ(takeLog(), (Log{"mode", "fallback", "kernel"}));
  }
  EXPECT_FALSE(tls_is_dispatch_key_included(Key::TESTING_ONLY_GenericMode));
  call(x_);
  EXPECT_EQ(takeLog(), (Log{"mode", "kernel"}));
  call(tensorWith({Key::CPU, Key::TESTING_ONLY_GenericMode}));
  EXPECT_EQ(takeLog(), (Log{"mode", "fallback", "kernel"}));
}

TEST_F(ModeLevelsTest, AKeyThatWasIncludedBeforeStaysSoAfterwards) {
  const IncludeDispatchKeyGuard includes(Key::TESTING_ONLY_GenericMode);
  EXPECT_EQ(errorOf([&] { call(x_); }).substr(0, 67),
            "could not run level::leaf for dispatch key TESTING_ONLY_GenericMode");
  { const auto mode = logger(Key::TESTING_ONLY_GenericMode); }
  EXPECT_TRUE(tls_is_dispatch_key_included(Key::TESTING_ONLY_GenericMode));
  tls_set_dispatch_key_included(Key::TESTING_ONLY_GenericMode, false);
  {
    const auto mode = logger(Key::TESTING_ONLY_GenericMode, "mode");
    EXPECT_FALSE(tls_is_dispatch_key_included(Key::TESTING_ONLY_GenericMode));
    tls_set_dispatch_key_included(Key::TESTING_ONLY_GenericMode, true);
    EXPECT_TRUE(tls_is_dispatch_key_included(Key::TESTING_ONLY_GenericMode));
    tls_set_dispatch_key_included(Key::TESTING_ONLY_GenericMode, false);
    call(x_);
    EXPECT_EQ(takeLog(), (Log{"mode", "kernel"}));
  }
  EXPECT_FALSE(tls_local_dispatch_key_set().included_.has(Key::TESTING_ONLY_GenericMode));
}

TEST_F(ModeLevelsTest, AreNotReachedWhereTheThreadExcludesTheLevel) {
  const auto autocast = logger(Key::AutocastCPU);
  const auto tracer = logger(Key::Tracer);
  const ExcludeDispatchKeyGuard without(Key::Tracer);
  call(x_);
  EXPECT_EQ(takeLog(), Log{"kernel"});
  tls_set_dispatch_key_excluded(Key::AutocastCPU, false);
  call(x_);
  tls_set_dispatch_key_excluded(Key::AutocastCPU, true);
  EXPECT_EQ(takeLog(), (Log{"AutocastCPU", "kernel"}));
}

TEST_F(ModeLevelsTest, SeeWhatACompositeCallsIfTheyAskForIt) {
  {
    const auto mode = logger(Key::Tracer, "mode");
    call(x_, "level::twice");
    EXPECT_EQ(takeLog(), (Log{"mode twice", "kernel", "kernel"}));
  }
  const auto mode = logger(Key::Tracer, "mode", true);
  call(x_, "level::twice");
  EXPECT_EQ(takeLog(), (Log{"mode twice", "mode", "kernel", "mode", "kernel"}));
}

TEST_F(ModeLevelsTest, BelowACompositeThatRunsAboveThemSeeItsCalls) {
  const auto mode = logger(Key::Functionalize, "mode");
  call(tensorWith({Key::CPU, Key::AutogradCPU}), "level::twice");
  EXPECT_EQ(takeLog(), (Log{"mode", "kernel", "mode", "kernel"}));
}

TEST_F(ModeLevelsTest, CallsOfAHandlerAreHiddenFromItAlone) {
  const auto outer = logger(Key::Tracer, "outer");
  const ModeGuard inner(
      [this](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
        log_.push_back("inner");
        call(x_);
        op.redispatchBoxed(keys, stack);
      },
      {.key = Key::Tracer});
  call(x_, "level::twice");
  EXPECT_EQ(takeLog(), (Log{"inner", "outer", "kernel", "outer twice", "kernel", "kernel"}));
}

TEST_F(ModeLevelsTest, AnswerByThemselvesOrWithOtherArguments) {
  const Tensor other = cpuTensor();
  {
    const ModeGuard mode([&](const OperatorHandle&, DispatchKeySet, Stack& stack) { stack.back() = IValue(other); },
                         {.key = Key::Tracer});
    EXPECT_TRUE(call(x_).is_same(other));
    EXPECT_EQ(takeLog(), Log{});
  }
  const ModeGuard mode(
      [&](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
        stack.back() = IValue(other);
        op.redispatchBoxed(keys, stack);
      },
      {.key = Key::BackendSelect});
  EXPECT_TRUE(call(x_).is_same(other));
  EXPECT_EQ(takeLog(), Log{"kernel"});
}

TEST_F(ModeLevelsTest, SeeOperatorsAndKernelsThatAreRegisteredMeanwhile) {
  const auto mode = logger(Key::Tracer, "mode");
  Library m = definitions("level");
  m.def("late(Tensor x) -> Tensor");
  Library cpu = implementations(Key::CPU, "level");
  cpu.impl("late", [this](const Tensor& x) { return log_.push_back("late"), x; });
  call(x_, "level::late");
  EXPECT_EQ(takeLog(), (Log{"mode", "late"}));
  {
    Library tracer = implementations(Key::Tracer, "level");
    tracer.impl("late", [this](DispatchKeySet keys, const Tensor& x) {
      log_.push_back("traced");
      return find("level::late").typed<Tensor(const Tensor&)>().redispatch(keys.remove(Key::Tracer), x);
    });
    const IncludeDispatchKeyGuard includes(Key::Tracer);
    call(x_, "level::late");
    EXPECT_EQ(takeLog(), (Log{"mode", "traced", "late"}));
  }
  call(x_, "level::late");
  EXPECT_EQ(takeLog(), (Log{"mode", "late"}));
}

TEST_F(ModeLevelsTest, BelongToTheirThread) {
  const auto mode = logger(Key::ADInplaceOrView, "mode");
  std::thread([&] {
    call(x_);
    EXPECT_EQ(takeLog(), Log{"kernel"});
    const auto own = logger(Key::ADInplaceOrView, "own");
    call(x_);
    EXPECT_EQ(takeLog(), (Log{"own", "kernel"}));
  }).join();
  call(x_);
  EXPECT_EQ(takeLog(), (Log{"mode", "kernel"}));
}

TEST_F(ModeLevelsTest, LeaveTheTablesAsTheyWere) {
  const OperatorEntry& entry = find("level::leaf").entry();
  const auto kernelAt = [&](Key key) { return entry.lookup(DispatchKeySet(key)); };
  const Kernel* const tracer = kernelAt(Key::Tracer);
  const Kernel* const cpu = kernelAt(Key::CPU);
  const DispatchKeySet mask = entry.dispatchKeyExtractor().nonFallthroughKeys();
  {
    const auto first = logger(Key::Dense);
    const auto second = logger(Key::ADInplaceOrView);
    EXPECT_EQ(kernelAt(Key::CPU)->kind, KernelKind::Modes);
    EXPECT_EQ(kernelAt(Key::Tracer), tracer);
    EXPECT_TRUE(entry.dispatchKeyExtractor().nonFallthroughKeys().has(Key::ADInplaceOrView));
  }
  EXPECT_EQ(kernelAt(Key::CPU), cpu);
  EXPECT_EQ(entry.dispatchKeyExtractor().nonFallthroughKeys(), mask);
}

TEST_F(ModeLevelsTest, AreOutOfTheWayOfHiddenCallsAndOfWithoutModes) {
  const auto mode = logger(Key::Dense, "mode");
  {
    const HiddenCalls hidden;
    call(x_);
    EXPECT_EQ(takeLog(), Log{"kernel"});
  }
  {
    const WithoutModes without;
    EXPECT_EQ(modeCount(Key::Dense), 0U);
    call(x_);
    EXPECT_EQ(takeLog(), Log{"kernel"});
    const auto own = logger(Key::Dense, "own");
    call(x_);
    EXPECT_EQ(takeLog(), (Log{"own", "kernel"}));
  }
  EXPECT_EQ(modeCount(Key::Dense), 1U);
  call(x_);
  EXPECT_EQ(takeLog(), (Log{"mode", "kernel"}));
}

}  // namespace
}  // namespace boxcar
