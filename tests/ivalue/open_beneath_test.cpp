#include <boxcar/ivalue/open_beneath.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "tests/temporary_folder.h"

namespace boxcar {
namespace {

// Every test runs with the kernel's openat2(2) and with the walk that replaces it.
class OpenBeneath : public testing::TestWithParam<bool> {
 protected:
  OpenBeneath() {
    detail::pretendToLackOpenat2(GetParam());
    temporary_.write("in/sub/file", "inside");
    temporary_.write("out/file", "outside");
    folder_ = FileDescriptor(::open((temporary_ / "in").c_str(), kFlagsForFolders));
  }
  ~OpenBeneath() override { detail::pretendToLackOpenat2(false); }

  // Returns what is read from [name], or why it cannot be read.
  std::string contents(const std::string& name) const {
    const FileDescriptor file = openBeneath(folder_.get(), name, kFlagsForReading);
    if (!file.isOpen()) return std::strerror(errno);
    char text[100];
    const ssize_t size = ::read(file.get(), text, sizeof(text));
    return size < 0 ? std::strerror(errno) : std::string(text, static_cast<size_t>(size));
  }

  TemporaryFolder temporary_;
  FileDescriptor folder_;
};

INSTANTIATE_TEST_SUITE_P(Ways, OpenBeneath, testing::Bool(),
                         [](const auto& way) { return way.param ? "Walk" : "Openat2"; });

TEST_P(OpenBeneath, OpensWhatLiesInTheFolder) {
  EXPECT_EQ(contents("sub/file"), "inside");
  EXPECT_EQ(contents("missing"), std::strerror(ENOENT));
  EXPECT_EQ(contents("missing/file"), std::strerror(ENOENT));
  EXPECT_EQ(contents("sub/file/x"), std::strerror(ENOTDIR));
  EXPECT_EQ(contents(""), std::strerror(EISDIR));
  EXPECT_TRUE(openBeneath(folder_.get(), "", kFlagsForFolders).isOpen());
  EXPECT_TRUE(openBeneath(folder_.get(), "sub", kFlagsForFolders).isOpen());
}

TEST_P(OpenBeneath, FollowsNoLink) {
  temporary_.link("in/file_link", "sub/file");
  temporary_.link("in/folder_link", "sub");
  temporary_.link("in/sub/way_out", "../../out");
  EXPECT_EQ(contents("file_link"), std::strerror(ELOOP));
  EXPECT_EQ(contents("folder_link/file"), std::strerror(ELOOP));
  EXPECT_EQ(contents("sub/way_out/file"), std::strerror(ELOOP));
  EXPECT_FALSE(openBeneath(folder_.get(), "folder_link", kFlagsForFolders).isOpen());
  EXPECT_EQ(errno, ELOOP);
}

TEST_P(OpenBeneath, TheFolderMayMove) {
  std::filesystem::rename(temporary_ / "in", temporary_ / "moved");
  std::filesystem::rename(temporary_ / "out", temporary_ / "in");
  EXPECT_EQ(contents("sub/file"), "inside");
  EXPECT_EQ(contents("file"), std::strerror(ENOENT));
}

}  // namespace
}  // namespace boxcar
