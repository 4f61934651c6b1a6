#include <boxcar/ivalue/ivalue.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/test_support.h"

namespace boxcar {
namespace {

TEST(Tuple, AMovedFromTupleIsStillTheSameTuple) {
  Tuple tuple({IValue(1), IValue("a")});
  // NOLINTBEGIN(bugprone-use-after-move, performance-move-const-arg): are what is tested
  const Tuple taken = std::move(tuple);
  EXPECT_EQ(tuple.size(), 2u);
  EXPECT_EQ(tuple.object(), taken.object());
  Tuple assigned({IValue()});
  assigned = std::move(tuple);
  EXPECT_EQ(tuple.elements().at(0).toInt(), 1);
  EXPECT_EQ(assigned, tuple);
  // NOLINTEND(bugprone-use-after-move, performance-move-const-arg)
}

TEST(Tuple, HoldsItsValues) {
  const Tuple tuple({IValue(1), IValue("a")});
  EXPECT_EQ(tuple.size(), 2u);
  EXPECT_EQ(tuple.elements()[1].toStringRef(), "a");
  EXPECT_EQ(Tuple(std::vector<IValue>()).size(), 0u);
}

TEST(Tuple, ComparesElements) {
  const Tuple tuple({IValue(1), IValue("a")});
  EXPECT_EQ(tuple, Tuple({IValue(1.0), IValue("a")}));
  EXPECT_FALSE(tuple == Tuple({IValue(1)}));
  EXPECT_FALSE(tuple == Tuple({IValue(1), IValue("b")}));
  EXPECT_FALSE(IValue(Tuple({IValue(1)})) == IValue(List<int64_t>{1}));
}

TEST(Tuple, CopiesShareOneObject) {
  const Tuple first({IValue(1)});
  const Tuple second = first;
  EXPECT_EQ(first.object(), second.object());
  EXPECT_EQ(first.object()->useCount(), 2u);
}

TEST(Tuple, ToAndFromStdTuple) {
  const IValue value(std::tuple<int64_t, std::string, Tensor>(3, "x", Tensor()));
  ASSERT_TRUE(value.isTuple());
  const auto [number, text, tensor] = value.to<std::tuple<int64_t, std::string, Tensor>>();
  EXPECT_EQ(number, 3);
  EXPECT_EQ(text, "x");
  EXPECT_FALSE(tensor.defined());
  EXPECT_EQ(errorOf([&] { value.to<std::tuple<int64_t>>(); }), "expected a tuple of 1 values, found one of 3");
  EXPECT_EQ(errorOf([&] { value.to<std::tuple<int64_t, int64_t, Tensor>>(); }),
            "expected a value of kind Int, found String");
}

}  // namespace
}  // namespace boxcar
