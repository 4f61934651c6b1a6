#include <boxcar/ivalue/error.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

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
  Error error("first");
  error.addContext("in second");
  EXPECT_STREQ(error.what(), "first\nin second");
}

TEST(Error, InternalAssertNamesConditionAndFile) {
  const std::string message = errorOf([] { BOXCAR_INTERNAL_ASSERT(2 < 1); });
  EXPECT_NE(message.find("internal assertion failed: 2 < 1 at tests/ivalue/error_test.cpp:"), std::string::npos);
}

}  // namespace
}  // namespace boxcar
