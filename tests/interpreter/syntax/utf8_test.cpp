#include <boxcar/interpreter/syntax/utf8.h>
#include <gtest/gtest.h>

namespace boxcar::utf8 {
namespace {

TEST(Utf8, ABeginningEndsAfterAWholeCodePoint) {
  EXPECT_EQ(beginning("aé€", 7), "aé€");
  EXPECT_EQ(beginning("aé€", 6), "aé€");
  EXPECT_EQ(beginning("aé€", 5), "aé");
  EXPECT_EQ(beginning("aé€", 2), "a");
  EXPECT_EQ(beginning("€", 2), "");
}

}  // namespace
}  // namespace boxcar::utf8
