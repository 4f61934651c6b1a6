#include <boxcar/dispatcher/call/record_function.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/dispatcher/dispatcher_helpers.h"

namespace boxcar {
namespace {

using Log = std::vector<std::string>;

struct Counter final : ObserverContext {
  explicit Counter(int given) : number(given) {}
  int number;
};

// Operators `seen::pair`, with two results, and `seen::fails`.
class RecordFunctionTest : public ::testing::Test {
 protected:
  RecordFunctionTest() {
    m_.def("pair(Tensor x, int n) -> (Tensor, int)",
           [](const Tensor& x, int64_t n) { return std::tuple<Tensor, int64_t>(x, n + 1); });
    m_.def("fails(Tensor x) -> Tensor", [](const Tensor&) -> Tensor { throw std::runtime_error("broken"); });
    m_.def("quiet(Tensor x) -> Tensor", [](const Tensor& x) { return x; }, {Tag::not_observed});
    m_.def("none() -> ()", [] {});
  }
  ~RecordFunctionTest() override {
    clearThreadLocalCallbacks();
    clearGlobalCallbacks();
    EXPECT_FALSE(detail::callsAreWatched());
  }

  std::tuple<Tensor, int64_t> pair(int64_t n) {
    return find("seen::pair").typed<std::tuple<Tensor, int64_t>(const Tensor&, int64_t)>().call(x_, n);
  }

  // Logs "start name(inputs)" and "end name -> outputs".
  RecordFunctionCallback logger(std::string who = "") {
    return RecordFunctionCallback(
               [this, who](const RecordFunction& call) -> std::unique_ptr<ObserverContext> {
                 log_.push_back(who + "start " + call.name() + textOf(call.inputs()));
                 return nullptr;
               },
               [this, who](const RecordFunction& call, ObserverContext*) {
                 log_.push_back(who + (call.failed() ? "failed " : "end ") + call.name() + textOf(call.outputs()));
               })
        .needsInputs(true)
        .needsOutputs(true);
  }
  Log takeLog() { return std::exchange(log_, {}); }

  Log log_;
  Tensor x_ = cpuTensor();

 private:
  static std::string textOf(std::span<const IValue> values) {
    std::string text = "(";
    for (const IValue& value : values) text += value.isTensor() ? "tensor " : repr(value) + " ";
    return text + ")";
  }

  Library m_ = definitions("seen");
};

TEST_F(RecordFunctionTest, CallbacksGetExactlyTheCallsArgumentsAndResults) {
  addThreadLocalCallback(logger());
  EXPECT_EQ(std::get<1>(pair(4)), 5);
  EXPECT_EQ(takeLog(), (Log{"start seen::pair(tensor 4 )", "end seen::pair(tensor 5 )"}));
  // Inputs exclude values below them on the stack.
  Stack stack{IValue("below"), IValue(x_), IValue(6)};
  find("seen::pair").callBoxed(stack);
  EXPECT_EQ(stack.size(), 3U);
  EXPECT_EQ(takeLog(), (Log{"start seen::pair(tensor 6 )", "end seen::pair(tensor 7 )"}));
  find("seen::none").typed<void()>().call();
  EXPECT_EQ(takeLog(), (Log{"start seen::none()", "end seen::none()"}));
}

TEST_F(RecordFunctionTest, ArgumentsAndResultsAreOnlyMadeForThoseWhoNeedThem) {
  addThreadLocalCallback(logger().needsInputs(false).needsOutputs(false));
  pair(4);
  EXPECT_EQ(takeLog(), (Log{"start seen::pair()", "end seen::pair()"}));
}

TEST_F(RecordFunctionTest, NothingOfTheCallIsKeptBehindIt) {
  addThreadLocalCallback(logger());
  const uint32_t before = useCount(x_);
  pair(1);
  EXPECT_EQ(useCount(x_), before);
}

TEST_F(RecordFunctionTest, NamesScopeOperatorThreadAndNumberTheCall) {
  std::vector<uint64_t> handles;
  addThreadLocalCallback(RecordFunctionCallback([&](const RecordFunction& call) -> std::unique_ptr<ObserverContext> {
    EXPECT_EQ(call.scope(), RecordScope::FUNCTION);
    EXPECT_EQ(call.operator_name(), OperatorName("seen::pair", ""));
    EXPECT_EQ(call.threadId(), RecordFunction::currentThreadId());
    EXPECT_EQ(call.num_inputs(), 0U);
    handles.push_back(call.handle());
    return nullptr;
  }));
  pair(1);
  pair(1);
  ASSERT_EQ(handles.size(), 2U);
  EXPECT_LT(handles[0], handles[1]);
}

TEST_F(RecordFunctionTest, EndGetsTheContextOfItsStart) {
  int number = 0;
  std::vector<int> ended;
  addThreadLocalCallback(
      RecordFunctionCallback([&](const RecordFunction&) { return std::make_unique<Counter>(++number); },
                             [&](const RecordFunction&, ObserverContext* context) {
                               ended.push_back(static_cast<Counter*>(context)->number);
                             }));
  pair(1);
  pair(1);
  EXPECT_EQ(ended, (std::vector<int>{1, 2}));
}

TEST_F(RecordFunctionTest, EndComesWithoutResultsWhenTheCallFails) {
  addThreadLocalCallback(logger());
  EXPECT_EQ(errorOf([&] { find("seen::fails").typed<Tensor(const Tensor&)>().call(x_); }),
            "seen::fails() failed: broken");
  EXPECT_EQ(takeLog(), (Log{"start seen::fails(tensor )", "failed seen::fails()"}));
  Stack stack{IValue(x_)};
  EXPECT_EQ(errorOf([&] { find("seen::fails").callBoxed(stack); }), "seen::fails() failed: broken");
  EXPECT_EQ(takeLog(), (Log{"start seen::fails(tensor )", "failed seen::fails()"}));
  EXPECT_EQ(stack.size(), 1U);
}

TEST_F(RecordFunctionTest, SeveralObserversNest) {
  addGlobalCallback(logger("global "));
  addThreadLocalCallback(logger("local "));
  find("seen::none").typed<void()>().call();
  EXPECT_EQ(takeLog(), (Log{"global start seen::none()", "local start seen::none()", "local end seen::none()",
                            "global end seen::none()"}));
}

TEST_F(RecordFunctionTest, GlobalOnesSeeEveryThreadAndLocalOnesTheirOwn) {
  std::atomic<int> global = 0;
  int local = 0;
  const auto count = [](auto& counter) {
    return RecordFunctionCallback(
        [&counter](const RecordFunction&) -> std::unique_ptr<ObserverContext> { return ++counter, nullptr; });
  };
  addGlobalCallback(count(global));
  addThreadLocalCallback(count(local));
  EXPECT_TRUE(hasGlobalCallbacks());
  EXPECT_TRUE(hasThreadLocalCallbacks());
  std::thread([&] {
    pair(1);
    EXPECT_FALSE(hasThreadLocalCallbacks());
  }).join();
  EXPECT_EQ(global, 1);
  EXPECT_EQ(local, 0);
  pair(1);
  EXPECT_EQ(global, 2);
  EXPECT_EQ(local, 1);
}

TEST_F(RecordFunctionTest, LocalCallbacksGoWithTheirThread) {
  std::thread([&] { addThreadLocalCallback(logger()); }).join();
  EXPECT_FALSE(detail::callsAreWatched());
}

TEST_F(RecordFunctionTest, RemovedOnesAreToldNoMore) {
  const CallbackHandle local = addThreadLocalCallback(logger("local "));
  const CallbackHandle global = addGlobalCallback(logger("global "));
  EXPECT_TRUE(removeCallback(local));
  find("seen::none").typed<void()>().call();
  EXPECT_EQ(takeLog(), (Log{"global start seen::none()", "global end seen::none()"}));
  EXPECT_TRUE(removeCallback(global));
  EXPECT_FALSE(removeCallback(global));
  find("seen::none").typed<void()>().call();
  EXPECT_EQ(takeLog(), Log{});
}

TEST_F(RecordFunctionTest, CallThatHasStartedKeepsItsCallbacks) {
  CallbackHandle handle = 0;
  bool ended = false;
  handle = addThreadLocalCallback(RecordFunctionCallback(
      [&](const RecordFunction&) -> std::unique_ptr<ObserverContext> {
        EXPECT_TRUE(removeCallback(handle));
        return nullptr;
      },
      [&](const RecordFunction&, ObserverContext*) { ended = true; }));
  pair(1);
  EXPECT_TRUE(ended);
}

TEST_F(RecordFunctionTest, SamplesTheShareThatIsAskedFor) {
  int count = 0;
  const auto counter = [&](double probability) {
    return RecordFunctionCallback(
               [&](const RecordFunction&) -> std::unique_ptr<ObserverContext> { return ++count, nullptr; })
        .samplingProb(probability);
  };
  const OperatorHandle none = find("seen::none");
  const auto countCalls = [&](double probability) {
    count = 0;
    const CallbackHandle handle = addThreadLocalCallback(counter(probability));
    for (int i = 0; i < 10000; ++i) none.typed<void()>().call();
    removeCallback(handle);
    return count;
  };
  EXPECT_EQ(countCalls(0), 0);
  EXPECT_EQ(countCalls(1), 10000);
  EXPECT_NEAR(countCalls(0.1), 1000, 200);
  EXPECT_EQ(errorOf([&] { counter(1.5); }), "the sampling probability of an observer is between 0 and 1, not 1.5");
}

TEST_F(RecordFunctionTest, ToldOfTheScopesThatItAsksFor) {
  addThreadLocalCallback(logger("user ").scopes({RecordScope::USER_SCOPE}));
  addThreadLocalCallback(logger("function ").scopes({RecordScope::FUNCTION}));
  {
    const RecordUserScope scope("loading");
    find("seen::none").typed<void()>().call();
  }
  EXPECT_EQ(takeLog(), (Log{"user start loading()", "function start seen::none()", "function end seen::none()",
                            "user end loading()"}));
}

TEST_F(RecordFunctionTest, CallsOfCallbacksAreNotObserved) {
  int calls = 0;
  addThreadLocalCallback(RecordFunctionCallback([&](const RecordFunction&) -> std::unique_ptr<ObserverContext> {
    ++calls;
    EXPECT_FALSE(isRecordFunctionEnabled());
    find("seen::none").typed<void()>().call();
    return nullptr;
  }));
  pair(1);
  EXPECT_EQ(calls, 1);
}

TEST_F(RecordFunctionTest, ThreadMaySwitchItOff) {
  addGlobalCallback(logger());
  {
    const DisableRecordFunctionGuard guard;
    pair(1);
    const RecordFunctionGuard on(true);
    find("seen::none").typed<void()>().call();
  }
  EXPECT_EQ(takeLog(), (Log{"start seen::none()", "end seen::none()"}));
}

TEST_F(RecordFunctionTest, OperatorsThatAskNotToBeObservedAreNot) {
  addThreadLocalCallback(logger());
  find("seen::quiet").typed<Tensor(const Tensor&)>().call(x_);
  Stack stack{IValue(x_)};
  find("seen::quiet").callBoxed(stack);
  EXPECT_EQ(takeLog(), Log{});
  EXPECT_FALSE(find("seen::quiet").entry().isObserved());
  EXPECT_TRUE(find("seen::pair").entry().isObserved());
}

TEST_F(RecordFunctionTest, WhatACallbackThrowsIsReportedAndTheCallGoesOn) {
  addThreadLocalCallback(RecordFunctionCallback(
      [](const RecordFunction&) -> std::unique_ptr<ObserverContext> { throw std::runtime_error("out of ink"); },
      [](const RecordFunction&, ObserverContext*) { throw 7; }));
  testing::internal::CaptureStderr();
  EXPECT_EQ(std::get<1>(pair(1)), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "boxcar: an observer failed at the start of seen::pair: out of ink\n"
            "boxcar: an observer failed at the end of seen::pair: it threw something that is not a std::exception\n");
}

TEST_F(RecordFunctionTest, WhatACallbackHoldsGoesWithItAlthoughThreadsHaveSeenIt) {
  const auto state = std::make_shared<int>(0);
  const CallbackHandle handle = addGlobalCallback(RecordFunctionCallback(
      [state](const RecordFunction&) -> std::unique_ptr<ObserverContext> { return ++*state, nullptr; }));
  pair(1);
  std::thread([&] { pair(1); }).join();
  EXPECT_EQ(*state, 2);
  removeCallback(handle);
  EXPECT_EQ(state.use_count(), 1);
}

TEST_F(RecordFunctionTest, DestructorOfACallbacksStateMayMakeObservedCalls) {
  struct Caller {
    explicit Caller(OperatorHandle given) : op(given) {}
    ~Caller() { op.typed<void()>().call(); }
    OperatorHandle op;
  };
  addThreadLocalCallback(logger());
  const auto start = [caller = std::make_shared<Caller>(find("seen::none"))](
                         const RecordFunction&) -> std::unique_ptr<ObserverContext> { return nullptr; };
  const CallbackHandle handle = addGlobalCallback(RecordFunctionCallback(start));
  removeCallback(handle);
  EXPECT_EQ(takeLog(), Log{});  // `start` is still registered
  addGlobalCallback(
      RecordFunctionCallback([caller = std::make_shared<Caller>(find("seen::none"))](
                                 const RecordFunction&) -> std::unique_ptr<ObserverContext> { return nullptr; }));
  pair(1);
  takeLog();
  clearGlobalCallbacks();
  EXPECT_EQ(takeLog(), (Log{"start seen::none()", "end seen::none()"}));
}

TEST_F(RecordFunctionTest, ThreadMayCallOperatorsWhileItEnds) {
  static std::atomic<int> calls = 0;
  struct Late {
    ~Late() {
      calls +=
          std::get<1>(
              find("seen::pair").typed<std::tuple<Tensor, int64_t>(const Tensor&, int64_t)>().call(cpuTensor(), 1)) ==
          2;
    }
  };
  addGlobalCallback(logger().needsInputs(false));
  std::thread([&] {
    static thread_local Late late;  // constructed before the state of the observers, destroyed after it
    static_cast<void>(&late);
    pair(1);
  }).join();
  EXPECT_EQ(calls, 1);
}

TEST_F(RecordFunctionTest, RefusesACallbackThatHasNoStart) {
  EXPECT_EQ(errorOf([] { addGlobalCallback(RecordFunctionCallback(nullptr)); }),
            "an observer needs a start callback; it may do nothing");
}

}  // namespace
}  // namespace boxcar
