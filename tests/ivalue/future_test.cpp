#include <boxcar/ivalue/future.h>
#include <boxcar/ivalue/ivalue.h>
#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/test_support.h"

namespace boxcar {
namespace {

const std::string kCompleteAlready =
    "a completed future cannot get another value or error; setErrorIfNeeded() leaves it unchanged";

std::exception_ptr failure(const std::string& text) { return std::make_exception_ptr(std::runtime_error(text)); }

std::string thrownBy(auto&& body) {
  try {
    body();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Future, HasItsValueWhenItIsComplete) {
  const auto future = makeIntrusive<Future>();
  EXPECT_FALSE(future->completed() || future->hasValue() || future->hasError());
  EXPECT_EQ(errorOf([&] { future->value(); }), "a future has no value before it is completed; wait() for it first");
  future->markCompleted(IValue(42));
  EXPECT_TRUE(future->completed() && future->hasValue());
  EXPECT_FALSE(future->hasError());
  future->wait();
  EXPECT_EQ(future->value().toInt(), 42);
  EXPECT_EQ(future->tryRetrieveErrorMessage(), "");
  EXPECT_EQ(future->exception_ptr(), nullptr);
}

TEST(Future, WithoutAValueItIsNone) {
  const auto future = makeIntrusive<Future>();
  future->markCompleted();
  EXPECT_TRUE(future->hasValue() && future->value().isNone());
}

TEST(Future, ThrowsItsErrorWhereTheValueIsAsked) {
  const auto future = makeIntrusive<Future>();
  future->setError(failure("the worker is gone"));
  EXPECT_TRUE(future->completed() && future->hasError());
  EXPECT_FALSE(future->hasValue());
  future->wait();
  EXPECT_EQ(thrownBy([&] { future->value(); }), "the worker is gone");
  EXPECT_EQ(thrownBy([&] { future->waitAndThrow(); }), "the worker is gone");
  EXPECT_EQ(future->tryRetrieveErrorMessage(), "the worker is gone");
  EXPECT_NE(future->exception_ptr(), nullptr);
}

TEST(Future, IsCompletedOnce) {
  const auto future = makeIntrusive<Future>();
  future->markCompleted(IValue(1));
  EXPECT_EQ(errorOf([&] { future->markCompleted(IValue(2)); }), kCompleteAlready);
  EXPECT_EQ(errorOf([&] { future->setError(failure("late")); }), kCompleteAlready);
  future->setErrorIfNeeded(failure("later"));
  EXPECT_EQ(future->value().toInt(), 1);
  const auto failed = makeIntrusive<Future>();
  failed->setErrorIfNeeded(failure("first"));
  failed->setErrorIfNeeded(failure("second"));
  EXPECT_EQ(failed->tryRetrieveErrorMessage(), "first");
  EXPECT_EQ(errorOf([] { makeIntrusive<Future>()->setError(nullptr); }),
            "the error of a future cannot be a null pointer");
}

TEST(Future, WakesThoseWhoWait) {
  const auto future = makeIntrusive<Future>();
  std::atomic<int64_t> sum = 0;
  std::vector<std::thread> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.emplace_back([future, &sum] {
      future->wait();
      sum += future->value().toInt();
    });
  }
  future->markCompleted(IValue(5));
  for (std::thread& thread : waiting) thread.join();
  EXPECT_EQ(sum, 15);
}

TEST(Future, CallbacksRunOnceWhenItIsComplete) {
  const auto future = makeIntrusive<Future>();
  std::string order;
  future->addCallback([&](Future& completed) { order += "a" + std::to_string(completed.value().toInt()); });
  future->addCallback([&](Future& completed) { order += completed.completed() ? "b" : "?"; });
  EXPECT_EQ(order, "");
  future->markCompleted(IValue(1));
  EXPECT_EQ(order, "a1b");
  future->addCallback([&](Future&) { order += "c"; });
  EXPECT_EQ(order, "a1bc");
}

TEST(Future, CallbacksRunForErrorsToo) {
  const auto future = makeIntrusive<Future>();
  std::string seen;
  future->addCallback([&](Future& completed) { seen = completed.tryRetrieveErrorMessage(); });
  future->setError(failure("no"));
  EXPECT_EQ(seen, "no");
}

TEST(Future, AllCallbacksRunAlsoWhereOneThrows) {
  const auto future = makeIntrusive<Future>();
  int ran = 0;
  future->addCallback([](Future&) { throw std::runtime_error("first"); });
  future->addCallback([](Future&) { throw std::runtime_error("second"); });
  future->addCallback([&](Future&) { ++ran; });
  EXPECT_EQ(thrownBy([&] { future->markCompleted(IValue(1)); }), "first");
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(future->value().toInt(), 1);
}

TEST(Future, ACallbackMayDropTheLastReference) {
  auto future = makeIntrusive<Future>();
  Future* const raw = future.get();
  future->addCallback([&](Future&) { future.reset(); });
  raw->markCompleted(IValue("text"));
  EXPECT_FALSE(future);
}

TEST(Future, ThenMakesAFutureOfItsResult) {
  const auto future = makeIntrusive<Future>();
  const auto doubled = future->then([](Future& completed) { return IValue(2 * completed.value().toInt()); });
  const auto shown = doubled->then([](Future& completed) { return IValue(std::to_string(completed.value().toInt())); });
  EXPECT_FALSE(doubled->completed());
  future->markCompleted(IValue(21));
  EXPECT_EQ(doubled->value().toInt(), 42);
  EXPECT_EQ(shown->value().toStringRef(), "42");
}

TEST(Future, ThenPassesErrorsOn) {
  const auto future = makeIntrusive<Future>();
  const auto next = future->then([](Future& completed) { return completed.value(); });
  const auto saved = future->then([](Future& completed) { return IValue(completed.hasError()); });
  future->setError(failure("lost"));
  EXPECT_EQ(next->tryRetrieveErrorMessage(), "lost");
  EXPECT_TRUE(saved->value().toBool());
}

TEST(Future, ThenAsyncEndsAsTheInnerFutureDoes) {
  const auto future = makeIntrusive<Future>();
  const auto inner = makeIntrusive<Future>();
  const auto outer = future->thenAsync([&](Future&) { return IntrusivePtr<Future>(inner); });
  future->markCompleted(IValue(1));
  EXPECT_FALSE(outer->completed());
  inner->markCompleted(IValue(2));
  EXPECT_EQ(outer->value().toInt(), 2);
  const auto none = future->thenAsync([](Future&) { return IntrusivePtr<Future>(); });
  EXPECT_EQ(none->tryRetrieveErrorMessage(), "a callback of thenAsync must return a future, not null");
  const auto failed = makeIntrusive<Future>();
  failed->setError(failure("inner"));
  EXPECT_EQ(future->thenAsync([&](Future&) { return IntrusivePtr<Future>(failed); })->tryRetrieveErrorMessage(),
            "inner");
}

TEST(Future, IsAValue) {
  const auto future = makeIntrusive<Future>();
  const IValue value(future);
  EXPECT_TRUE(value.isFuture());
  EXPECT_STREQ(value.tagKind(), "Future");
  EXPECT_EQ(value.toFuture(), future);
  EXPECT_EQ(value.to<IntrusivePtr<Future>>(), future);
  EXPECT_EQ(value, IValue(future));
  EXPECT_FALSE(value == IValue(makeIntrusive<Future>()));
  EXPECT_EQ(value.hash(), IValue(future).hash());
  EXPECT_TRUE(IValue(IntrusivePtr<Future>()).isNone());
  EXPECT_EQ(repr(value), "<Future>");
  future->markCompleted();
  EXPECT_EQ(repr(value), "<Future, complete>");
  const auto failed = makeIntrusive<Future>();
  failed->setError(failure("x"));
  EXPECT_EQ(toString(IValue(failed)), "<Future with an error>");
  EXPECT_EQ(errorOf([] { IValue(1).toFuture(); }), "expected a value of kind Future, found Int");
}

TEST(Future, HoldsFutures) {
  const auto inner = makeIntrusive<Future>();
  const auto outer = makeIntrusive<Future>();
  outer->markCompleted(IValue(inner));
  inner->markCompleted(IValue(3));
  EXPECT_EQ(outer->value().toFuture()->value().toInt(), 3);
  const List<IntrusivePtr<Future>> list{inner, outer};
  EXPECT_EQ(list[0], inner);
}

}  // namespace
}  // namespace boxcar
