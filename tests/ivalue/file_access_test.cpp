#include <boxcar/ivalue/file_access.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string_view>
#include <thread>

#include "tests/temporary_folder.h"
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

TEST(FileAccess, OpensRegularFilesOnly) {
  const TemporaryFolder temporary;
  temporary.write("file", "text");
  ASSERT_EQ(::mkfifo((temporary / "pipe").c_str(), 0600), 0);
  const FileAccessGuard guard(FileAccess{.folder = temporary.path()});
  EXPECT_TRUE(openForReading("file").isOpen());
  EXPECT_TRUE(openForReading(temporary / "file").isOpen());
  const auto fault = [](const char* path) { return errorOf([&] { openForReading(path); }); };
  EXPECT_EQ(fault("missing"), "cannot open '" + (temporary / "missing") + "': No such file or directory");
  EXPECT_EQ(fault("pipe"), "cannot read '" + (temporary / "pipe") + "': it is not a regular file");
  EXPECT_EQ(fault("."), "cannot read '" + (temporary / ".") + "': it is a folder, not a file");
  EXPECT_EQ(fault("/dev/null"), "cannot read '/dev/null': it is not a regular file");
  EXPECT_EQ(fault(""), "an empty path names no file");
}

TEST(FileAccess, PathsThatNameNoFileAreErrors) {
  EXPECT_EQ(errorOf([] { resolvePath(""); }), "an empty path names no file");
  EXPECT_EQ(errorOf([] { resolvePath(std::string_view("a\0b", 3)); }),
            "the path 'a\\x00b' contains a zero byte, which file names cannot have");
}

}  // namespace
}  // namespace boxcar
