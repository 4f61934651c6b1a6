#include <boxcar/dispatcher/call/mode.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"

namespace boxcar {
namespace {

using Key = DispatchKey;
using Log = std::vector<std::string>;

Tensor callTyped(const char* name, const Tensor& x) { return find(name).typed<Tensor(const Tensor&)>().call(x); }

// Operators `mode::leaf`, which computes, and `mode::twice`, a composite that calls leaf twice.
class ModeTest : public ::testing::Test {
 protected:
  ModeTest() {
    m_.def("leaf(Tensor x) -> Tensor");
    m_.def("other(Tensor x) -> Tensor");
    m_.def("twice(Tensor x) -> Tensor",
           [](const Tensor& x) { return callTyped("mode::leaf", callTyped("mode::leaf", x)); });
    cpu_.impl("leaf", [this](const Tensor& x) { return log_.push_back("kernel"), x; });
    cpu_.impl("other", [](const Tensor& x) { return x; });
  }

  // A handler that logs and redispatches.
  auto logger(std::string name) {
    return [this, name](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
      log_.push_back(name + " " + op.operator_name().name);
      op.redispatchBoxed(keys, stack);
    };
  }
  Log takeLog() { return std::exchange(log_, {}); }

  Log log_;
  Tensor x_ = cpuTensor();

 private:
  Library m_ = definitions("mode");
  Library cpu_ = implementations(Key::CPU, "mode");
};

TEST_F(ModeTest, InnermostRunsFirstThenTheNextOneOutThenTheKernel) {
  const ModeGuard outer(logger("outer"));
  const ModeGuard middle(logger("middle"));
  {
    const ModeGuard inner(logger("inner"));
    EXPECT_EQ(modeCount(), 3U);
    EXPECT_EQ(modeCount(Key::Tracer), 0U);
    callTyped("mode::leaf", x_);
    EXPECT_EQ(takeLog(), (Log{"inner mode::leaf", "middle mode::leaf", "outer mode::leaf", "kernel"}));
  }
  Stack stack{IValue(x_)};
  find("mode::leaf").callBoxed(stack);
  EXPECT_EQ(takeLog(), (Log{"middle mode::leaf", "outer mode::leaf", "kernel"}));
}

TEST_F(ModeTest, ManyNest) {
  std::vector<std::unique_ptr<ModeGuard>> guards;
  for (int i = 0; i < 100; ++i) guards.push_back(std::make_unique<ModeGuard>(logger(std::to_string(i))));
  callTyped("mode::leaf", x_);
  ASSERT_EQ(log_.size(), 101U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(log_[i], std::to_string(99 - i) + " mode::leaf");
  while (!guards.empty()) guards.pop_back();
  EXPECT_EQ(modeCount(), 0U);
}

TEST_F(ModeTest, NothingIsLeftOfAModeBehindItsScope) {
  { const ModeGuard mode(logger("mode")); }
  callTyped("mode::leaf", x_);
  EXPECT_EQ(takeLog(), Log{"kernel"});
  EXPECT_FALSE(tls_is_dispatch_key_included(Key::PreDispatch));
}

TEST_F(ModeTest, CallsOfItsBodyAreHiddenFromAModeButNotFromThoseFurtherOut) {
  const ModeGuard outer(logger("outer"));
  const ModeGuard inner([this](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    log_.push_back("inner " + op.operator_name().name);
    callTyped("mode::other", x_);
    op.redispatchBoxed(keys, stack);
  });
  callTyped("mode::leaf", x_);
  EXPECT_EQ(takeLog(), (Log{"inner mode::leaf", "outer mode::other", "outer mode::leaf", "kernel"}));
}

TEST_F(ModeTest, CallsBelowAreHiddenUnlessTheModeAsksForThem) {
  {
    const ModeGuard mode(logger("mode"));
    callTyped("mode::twice", x_);
    EXPECT_EQ(takeLog(), (Log{"mode mode::twice", "kernel", "kernel"}));
  }
  const ModeGuard profiler(logger("profiler"), {.sees_calls_below = true});
  callTyped("mode::twice", x_);
  EXPECT_EQ(takeLog(), (Log{"profiler mode::twice", "profiler mode::leaf", "kernel", "profiler mode::leaf", "kernel"}));
}

TEST_F(ModeTest, AHandlerMayAskForTheCallsBelowOfOneRedispatch) {
  bool asks = true;
  const ModeGuard mode([&](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    log_.push_back("mode " + op.operator_name().name);
    if (!asks) return op.redispatchBoxed(keys, stack);
    const ModeSeesCallsBelow seeing;
    op.redispatchBoxed(keys, stack);
  });
  callTyped("mode::twice", x_);
  EXPECT_EQ(takeLog(), (Log{"mode mode::twice", "mode mode::leaf", "kernel", "mode mode::leaf", "kernel"}));
  asks = false;
  callTyped("mode::twice", x_);
  EXPECT_EQ(takeLog(), (Log{"mode mode::twice", "kernel", "kernel"}));
}

TEST_F(ModeTest, OneModeMayAskForTheCallsBelowAndAnotherNot) {
  const Log expected{"asks mode::twice", "not mode::twice", "asks mode::leaf", "kernel", "asks mode::leaf", "kernel"};
  {
    const ModeGuard outer(logger("not"));
    const ModeGuard inner(logger("asks"), {.sees_calls_below = true});
    callTyped("mode::twice", x_);
    EXPECT_EQ(takeLog(), expected);
  }
  const ModeGuard outer(logger("asks"), {.sees_calls_below = true});
  const ModeGuard inner(logger("not"));
  callTyped("mode::twice", x_);
  EXPECT_EQ(takeLog(),
            (Log{"not mode::twice", "asks mode::twice", "asks mode::leaf", "kernel", "asks mode::leaf", "kernel"}));
}

TEST_F(ModeTest, BodyCallsStayHiddenFromAModeThatAsksForTheCallsBelow) {
  const ModeGuard mode(
      [this](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
        log_.push_back("mode " + op.operator_name().name);
        callTyped("mode::twice", x_);
        takeLog();
        op.redispatchBoxed(keys, stack);
      },
      {.sees_calls_below = true});
  const ModeGuard inner(logger("inner"));
  callTyped("mode::other", x_);
  EXPECT_EQ(takeLog(), Log{});
}

TEST_F(ModeTest, RedispatchMayHandOnACopyOfTheArgumentsOrBeTyped) {
  const Log expected{"profiler mode::twice", "profiler mode::leaf", "kernel", "profiler mode::leaf", "kernel"};
  {
    const ModeGuard profiler(
        [this](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
          log_.push_back("profiler " + op.operator_name().name);
          Stack copy = stack;
          op.redispatchBoxed(keys, copy);
          stack = copy;
        },
        {.sees_calls_below = true});
    callTyped("mode::twice", x_);
    EXPECT_EQ(takeLog(), expected);
  }
  const ModeGuard profiler(
      [this](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
        log_.push_back("profiler " + op.operator_name().name);
        stack.back() = IValue(op.typed<Tensor(const Tensor&)>().redispatch(keys, stack.back().toTensor()));
      },
      {.sees_calls_below = true});
  callTyped("mode::twice", x_);
  EXPECT_EQ(takeLog(), expected);
}

TEST_F(ModeTest, GuardsMayGoInAnyOrder) {
  auto outer = std::make_unique<ModeGuard>(logger("outer"));
  auto middle = std::make_unique<ModeGuard>(logger("middle"));
  const ModeGuard inner(logger("inner"));
  outer.reset();
  callTyped("mode::leaf", x_);
  EXPECT_EQ(takeLog(), (Log{"inner mode::leaf", "middle mode::leaf", "kernel"}));
  middle.reset();
  callTyped("mode::leaf", x_);
  EXPECT_EQ(takeLog(), (Log{"inner mode::leaf", "kernel"}));
}

TEST_F(ModeTest, HandlerMayAnswerByItself) {
  const Tensor answer = cpuTensor();
  const ModeGuard outer(logger("outer"));
  const ModeGuard mode([&](const OperatorHandle&, Stack* stack) {
    drop(*stack, 1);
    push(*stack, answer);
  });
  EXPECT_TRUE(callTyped("mode::leaf", x_).is_same(answer));
  EXPECT_EQ(takeLog(), Log{});
}

TEST_F(ModeTest, HoldsWhenHandlersAndKernelsThrow) {
  bool throws = true;
  const ModeGuard outer(logger("outer"), {.sees_calls_below = true});
  const ModeGuard inner([&](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    if (throws) throw std::runtime_error("not today");
    op.redispatchBoxed(keys, stack);
  });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(errorOf([&] { callTyped("mode::leaf", x_); }), "mode::leaf() failed: not today");
  }
  throws = false;
  callTyped("mode::leaf", x_);
  EXPECT_EQ(takeLog(), (Log{"outer mode::leaf", "kernel"}));

  Library failing = implementations(Key::CPU, "mode");
  failing.impl("leaf", [](const Tensor&) -> Tensor { throw std::runtime_error("no kernel"); });
  EXPECT_EQ(errorOf([&] { callTyped("mode::twice", x_); }), "mode::leaf() failed: no kernel");
  EXPECT_EQ(takeLog(), (Log{"outer mode::twice", "outer mode::leaf"}));
  EXPECT_EQ(errorOf([&] { callTyped("mode::twice", x_); }), "mode::leaf() failed: no kernel");
  EXPECT_EQ(takeLog(), (Log{"outer mode::twice", "outer mode::leaf"}));
}

TEST_F(ModeTest, AtPythonRunsBelowAutogradAndAboveTheBackend) {
  Tensor differentiable = cpuTensor();
  differentiable.unsafeGetTensorImpl()->set_key_set(differentiable.key_set().add(Key::AutogradCPU));
  Library autograd = implementations(Key::AutogradCPU, "mode");
  autograd.impl("leaf", [this](DispatchKeySet keys, const Tensor& x) {
    log_.push_back("autograd");
    return find("mode::leaf").typed<Tensor(const Tensor&)>().redispatch(keys & after_autograd_keyset, x);
  });
  const ModeGuard python(logger("python"), {.key = Key::Python});
  const ModeGuard before(logger("before"));
  callTyped("mode::leaf", differentiable);
  EXPECT_EQ(takeLog(), (Log{"before mode::leaf", "autograd", "python mode::leaf", "kernel"}));
  EXPECT_EQ(modeCount(Key::Python), 1U);
}

TEST_F(ModeTest, AtPythonSeesWhatACompositeCallsBecauseItStandsBelowIt) {
  const ModeGuard python(logger("python"), {.key = Key::Python, .sees_calls_below = true});
  callTyped("mode::twice", x_);
  EXPECT_EQ(takeLog(), (Log{"python mode::twice", "python mode::leaf", "kernel", "python mode::leaf", "kernel"}));
}

TEST_F(ModeTest, BelongsToItsThread) {
  const ModeGuard mode(logger("mode"));
  std::thread([&] { callTyped("mode::leaf", x_); }).join();
  EXPECT_EQ(takeLog(), Log{"kernel"});
}

TEST_F(ModeTest, OperatorsOwnKernelAtTheKeyRunsInsteadOfTheModes) {
  Library own = implementations(Key::PreDispatch, "mode");
  own.impl("leaf", [this](const Tensor& x) { return log_.push_back("own"), x; });
  const ModeGuard mode(logger("mode"));
  callTyped("mode::leaf", x_);
  EXPECT_EQ(takeLog(), Log{"own"});
}

TEST_F(ModeTest, KeyOfAModeWithoutAModeIsMissing) {
  const IncludeDispatchKeyGuard include(Key::PreDispatch);
  EXPECT_EQ(
      errorOf([&] { callTyped("mode::leaf", x_); }),
      "could not run mode::leaf for dispatch key PreDispatch, which this thread includes: no mode is on and no kernel "
      "is registered for it. The operator has kernels for: CPU. Hold a ModeGuard with a handler, or register a kernel "
      "with BOXCAR_LIBRARY_IMPL(mode, PreDispatch, m)");
}

TEST_F(ModeTest, RefusesOtherKeysAndFallbacksAtItsOwn) {
  EXPECT_EQ(errorOf([&] { ModeGuard(logger("mode"), {.key = Key::CPU}); }),
            "a mode cannot be at CPU, which is a key of one backend; name the functionality, Dense, for all of them");
  EXPECT_EQ(errorOf([&] { ModeGuard(logger("mode"), {.key = Key::Autograd}); }),
            "a mode cannot be at Autograd, which stands for several keys; name one of them");
  EXPECT_EQ(errorOf([&] { ModeGuard(logger("mode"), {.key = Key::Undefined}); }),
            "a mode cannot be at Undefined, which is not a key that calls dispatch to");
  EXPECT_EQ(errorOf([&] { ModeGuard(logger("mode"), {.key = Key::PythonDispatcher}); }),
            "a mode cannot be at PythonDispatcher, which stays on where a call goes on below; name PreDispatch, which "
            "is next to it");
  EXPECT_EQ(modeCount(Key::PythonDispatcher), 0U);
  Library fallback = fallbacks(Key::Python);
  EXPECT_EQ(errorOf([&] { fallback.fallback(CppFunction::makeFallthrough()); }),
            "a fallback cannot be registered for Python at test.cpp:3: modes run there; hold a ModeGuard with the "
            "handler");
}

TEST_F(ModeTest, ThatOnlyRedispatchesIsHandedTheKeysBelowItWhileItIsAlone) {
  const ModeOptions straight{.sees_calls_below = true, .only_redispatches = true};
  const auto handler = [this](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    log_.push_back((keys.has(Key::PreDispatch) ? "with " : "without ") + op.operator_name().name);
    op.redispatchBoxed(keys, stack);
  };
  const ModeGuard mode(handler, straight);
  callTyped("mode::twice", x_);
  EXPECT_EQ(takeLog(), (Log{"without mode::twice", "without mode::leaf", "kernel", "without mode::leaf", "kernel"}));
  {
    const ModeGuard inner(logger("inner"));
    callTyped("mode::twice", x_);
    EXPECT_EQ(takeLog(),
              (Log{"inner mode::twice", "with mode::twice", "with mode::leaf", "kernel", "with mode::leaf", "kernel"}));
  }
  callTyped("mode::leaf", x_);
  EXPECT_EQ(takeLog(), (Log{"without mode::leaf", "kernel"}));
}

TEST_F(ModeTest, AreOutOfTheWayWhileWithoutModesLives) {
  const ModeGuard above(logger("above"));
  const ModeGuard python(logger("python"), {.key = Key::Python});
  {
    const WithoutModes without;
    EXPECT_EQ(modeCount(), 0U);
    callTyped("mode::leaf", x_);
    EXPECT_EQ(takeLog(), Log{"kernel"});
    const ModeGuard own(logger("own"));
    callTyped("mode::leaf", x_);
    EXPECT_EQ(takeLog(), (Log{"own mode::leaf", "kernel"}));
  }
  EXPECT_EQ(modeCount(), 1U);
  callTyped("mode::leaf", x_);
  EXPECT_EQ(takeLog(), (Log{"above mode::leaf", "python mode::leaf", "kernel"}));
}

TEST_F(ModeTest, WrapsFactoriesAndOperatorsWithoutTensors) {
  Library m = definitions("mode");
  m.def("number() -> int", [] { return int64_t{7}; });
  const ModeGuard mode(logger("mode"));
  EXPECT_EQ(find("mode::number").typed<int64_t()>().call(), 7);
  EXPECT_EQ(takeLog(), Log{"mode mode::number"});
}

}  // namespace
}  // namespace boxcar
