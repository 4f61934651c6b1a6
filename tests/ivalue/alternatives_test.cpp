#include <boxcar/ivalue/alternatives.h>
#include <gtest/gtest.h>

#include <vector>

namespace boxcar {
namespace {

TEST(Alternatives, ReadAsPartOfASentence) {
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(alternatives(Names{}), "");
  EXPECT_EQ(alternatives(Names{"a"}), "a");
  EXPECT_EQ(alternatives(Names{"a", "b"}), "a or b");
  EXPECT_EQ(alternatives(Names{"a", "b", "c"}), "a, b or c");
}

}  // namespace
}  // namespace boxcar
