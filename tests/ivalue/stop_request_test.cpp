#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/stop_request.h>
#include <boxcar/ivalue/tuple.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/stop_requests.h"

namespace boxcar {
namespace {

// Returns a tuple of two equal tuples, and so on: 2^62 numbers to code that visits each.
IValue doubledSixtyTimes() {
  IValue value = 1;
  for (int i = 0; i < 62; ++i) value = Tuple(std::vector<IValue>{value, value});
  return value;
}

TEST(StopRequest, IsAskedAsLongAsItsGuardLives) {
  const StopAfter outer(1);
  const StopGuard outer_guard(outer);
  {
    const StopAfter inner(0);
    const StopGuard guard(inner);
    EXPECT_THROW(checkStop(), Stopped);
  }
  EXPECT_NO_THROW(checkStop());
  EXPECT_THROW(checkStop(), Stopped);
}

TEST(StopRequest, OfOneThreadIsNoneOfOthers) {
  const StopAfter request(0);
  const StopGuard guard(request);
  std::thread([] { EXPECT_NO_THROW(checkStop()); }).join();
}

TEST(StopRequest, ACounterAsksOnceAnInterval) {
  const StopAfter request(2);
  const StopGuard guard(request);
  StopCounter steps;
  for (int64_t i = 0; i + 1 < kStopInterval; ++i) steps.add(1);
  EXPECT_EQ(request.left(), 2);
  steps.add(1);
  EXPECT_EQ(request.left(), 1);
  steps.add(INT64_MAX);
  EXPECT_EQ(request.left(), 0);
  EXPECT_THROW(steps.add(kStopInterval), Stopped);
}

TEST(StopRequest, EndsWhatLooksAtASmallValueForEver) {
  const IValue a = doubledSixtyTimes();
  const IValue b = doubledSixtyTimes();
  {
    const StopAfter request(2);
    const StopGuard guard(request);
    EXPECT_THROW(static_cast<void>(a == b), Stopped);
  }
  {
    const StopAfter request(2);
    const StopGuard guard(request);
    EXPECT_THROW(static_cast<void>(a.hash()), Stopped);
  }
  const StopAfter request(2);
  const StopGuard guard(request);
  EXPECT_THROW(static_cast<void>(repr(a)), Stopped);
}

}  // namespace
}  // namespace boxcar
