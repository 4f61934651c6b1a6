#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/stack.h>
#include <gtest/gtest.h>

#include <exception>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/test_support.h"

namespace boxcar {
namespace {

struct Named {
  std::string name;
};
std::string toString(const Named& named) { return "Named " + named.name; }

TEST(Error, CheckPassesWhenTheConditionHolds) {
  EXPECT_EQ(errorOf([] { BOXCAR_CHECK(1 + 1 == 2, "never"); }), "no error");
}

TEST(Error, CheckFormatsItsArguments) {
  EXPECT_EQ(errorOf([] { BOXCAR_CHECK(false, "got {} and {}", 3, "text"); }), "got 3 and text");
}

TEST(Error, PrintableTypesAreFormattedAndStreamed) {
  EXPECT_EQ(errorOf([] { BOXCAR_FAIL("saw {}", Named{"a"}); }), "saw Named a");
  std::ostringstream stream;
  stream << Named{"b"};
  EXPECT_EQ(stream.str(), "Named b");
}

TEST(Error, ContextIsAddedBelow) {
  RuntimeError error("first");
  error.addContext("in second");
  EXPECT_STREQ(error.what(), "first\nin second");
}

static_assert(!std::is_constructible_v<Error, std::string>, "what is thrown is a std::exception, too");
static_assert(!std::is_convertible_v<Error&, std::exception&>);

template <class Caught>
std::string caughtAs(auto&& body) {
  try {
    body();
  } catch (const Caught& error) {
    return error.what();
  } catch (...) {
    return "something else";
  }
  return "nothing";
}

TEST(Error, IsCaughtAsAnErrorAndAsAStdException) {
  const auto fail = [] { BOXCAR_FAIL("text {}", 1); };
  EXPECT_EQ(caughtAs<Error>(fail), "text 1");
  EXPECT_EQ(caughtAs<RuntimeError>(fail), "text 1");
  EXPECT_EQ(caughtAs<std::exception>(fail), "text 1");
  EXPECT_EQ(caughtAs<std::out_of_range>(fail), "something else");
}

TEST(Error, AnIndexOutOfRangeIsAnErrorAndAStdOutOfRange) {
  const auto fail = [] { BOXCAR_CHECK_INDEX(1 > 2, "index {}", 5); };
  EXPECT_EQ(caughtAs<Error>(fail), "index 5");
  EXPECT_EQ(caughtAs<IndexError>(fail), "index 5");
  EXPECT_EQ(caughtAs<std::out_of_range>(fail), "index 5");
  EXPECT_EQ(caughtAs<std::logic_error>(fail), "index 5");
  EXPECT_EQ(caughtAs<std::exception>(fail), "index 5");
  EXPECT_EQ(caughtAs<RuntimeError>(fail), "something else");
  EXPECT_EQ(errorOf([] { BOXCAR_CHECK_INDEX(1 < 2, "never"); }), "no error");
}

TEST(Error, WhoeverTakesAnIndexThrowsOutOfRange) {
  const List<int64_t> list{1, 2};
  const List<std::string> texts{"a"};
  Stack stack{IValue(1)};
  const Tensor tensor = Tensor::allocate(std::vector<int64_t>{2, 3}, ScalarType::Float);
  EXPECT_THROW(list.get(2), std::out_of_range);
  EXPECT_THROW(list.set(2, 1), std::out_of_range);
  EXPECT_THROW(texts.extract(1), std::out_of_range);
  EXPECT_THROW(List<bool>().pop_back(), std::out_of_range);
  EXPECT_THROW((List<std::string>{}[0] = "a"), std::out_of_range);
  EXPECT_THROW((Dict<std::string, int64_t>().at("a")), std::out_of_range);
  EXPECT_THROW(stack.at(1), std::out_of_range);
  EXPECT_THROW(std::as_const(stack).at(7), std::out_of_range);
  EXPECT_THROW(tensor.size(2), std::out_of_range);
  EXPECT_THROW(tensor.stride(-3), std::out_of_range);
  EXPECT_THROW(wrapDimension(4, 4), std::out_of_range);
  EXPECT_THROW(Tensor().size(0), std::out_of_range);
}

TEST(Error, ContextIsAddedToAnIndexErrorAsToAny) {
  try {
    try {
      List<int64_t>().get(3);
    } catch (Error& error) {
      error.addContext("in f");
      throw;
    }
  } catch (const std::out_of_range& error) {
    EXPECT_STREQ(error.what(), "list index 3 is out of range for a list of 0 elements\nin f");
    return;
  }
  FAIL() << "it must be caught above";
}

TEST(Error, InternalAssertNamesConditionAndFile) {
  const std::string message = errorOf([] { BOXCAR_INTERNAL_ASSERT(2 < 1); });
  EXPECT_NE(message.find("internal assertion failed: 2 < 1 at tests/ivalue/error_test.cpp:"), std::string::npos);
}

}  // namespace
}  // namespace boxcar
