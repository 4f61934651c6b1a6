#include <boxcar/ivalue/file_access.h>
#include <gtest/gtest.h>

#include <string_view>
#include <thread>

#include "tests/test_support.h"

namespace boxcar {
namespace {

TEST(FileAccess, WithoutAContextPathsAreAsTheyAre) {
  EXPECT_EQ(fileAccess().folder, "");
  EXPECT_EQ(resolvePath("data/x"), "data/x");
  EXPECT_EQ(resolvePath("/data/x"), "/data/x");
}

TEST(FileAccess, RelativePathsStartFromTheFolder) {
  const FileAccessGuard guard(FileAccess{.folder = "/home/me"});
  EXPECT_EQ(fileAccess().folder, "/home/me");
  EXPECT_EQ(resolvePath("data/x"), "/home/me/data/x");
  EXPECT_EQ(resolvePath("../x"), "/home/me/../x");
  EXPECT_EQ(resolvePath("/data/x"), "/data/x");
}

TEST(FileAccess, GuardsNest) {
  const FileAccessGuard outer(FileAccess{.folder = "/outer"});
  {
    const FileAccessGuard inner(FileAccess{.folder = "/inner/"});
    EXPECT_EQ(resolvePath("x"), "/inner/x");
  }
  EXPECT_EQ(resolvePath("x"), "/outer/x");
}

TEST(FileAccess, BelongsToItsThread) {
  const FileAccessGuard guard(FileAccess{.folder = "/outer"});
  std::thread([] { EXPECT_EQ(resolvePath("x"), "x"); }).join();
}

TEST(FileAccess, PathsThatNameNoFileAreErrors) {
  EXPECT_EQ(errorOf([] { resolvePath(""); }), "an empty path names no file");
  EXPECT_EQ(errorOf([] { resolvePath(std::string_view("a\0b", 3)); }),
            "the path 'a\\x00b' has a zero byte in it, which no file name has");
}

}  // namespace
}  // namespace boxcar
