#include <boxcar/schema/function_object.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/parse_schema.h>
#include <boxcar/schema/type.h>
#include <boxcar/schema/value_type.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/test_support.h"

namespace boxcar {
namespace {

FunctionPtr twice() {
  return makeFunction(parseSchema("demo::twice(int n) -> int"),
                      [](Stack& stack) { push(stack, 2 * pop(stack).toInt()); });
}

TEST(FunctionObject, ReplacesItsArgumentsByItsResults) {
  Stack stack;
  push(stack, "below", 21);
  twice()->call(stack);
  ASSERT_EQ(stack.size(), 2u);
  EXPECT_EQ(pop(stack).toInt(), 42);
  EXPECT_EQ(pop(stack).toStringView(), "below");
}

TEST(FunctionObject, IsAValueOfItsType) {
  const IValue value = twice();
  EXPECT_EQ(toString(value), "demo::twice");
  EXPECT_EQ(typeOf(value), Type::function());
  EXPECT_TRUE(matches(value, parseType("Function")));
  EXPECT_TRUE(matches(value, parseType("Function?")));
  EXPECT_FALSE(matches(3, Type::function()));
  EXPECT_EQ(toString(functionIn(value)->schema()), "demo::twice(int n) -> int");
  EXPECT_EQ(functionIn("text"), nullptr);
}

TEST(FunctionObject, RefusesWhatDoesNotFit) {
  Stack stack;
  EXPECT_EQ(errorOf([&] { twice()->call(stack); }),
            "demo::twice takes 1 arguments, but the stack has 0 values\n  demo::twice(int n) -> int");
  push(stack, "a");
  EXPECT_EQ(errorOf([&] { twice()->call(stack); }),
            "demo::twice: argument 'n' must be int, not str\n  demo::twice(int n) -> int");
  EXPECT_EQ(stack.size(), 1u);
  const FunctionPtr wrong = makeFunction(parseSchema("f() -> ()"), [](Stack& s) { push(s, 1); });
  EXPECT_EQ(errorOf([&] { wrong->call(stack); }), "f: it must replace its 0 arguments by 0 results\n  f() -> ()");
}

}  // namespace
}  // namespace boxcar
