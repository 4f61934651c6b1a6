#include <boxcar/ivalue/file_access.h>
#include <boxcar/ivalue/output_file.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "tests/temporary_folder.h"
#include "tests/test_support.h"

namespace boxcar {
namespace {

void save(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

// Relative paths start from the test's own folder "at".
class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest() : guard_(FileAccess{.folder = temporary_ / "at"}) { temporary_.write("at/old", "old"); }

  TemporaryFolder temporary_;
  FileAccessGuard guard_;
};

TEST_F(OutputFileTest, AppearsWhenItIsWhole) {
  {
    OutputFile file("new");
    file.write(std::as_bytes(std::span(std::string_view("text"))));
    EXPECT_FALSE(std::filesystem::exists(temporary_ / "at/new"));
    file.commit();
  }
  EXPECT_EQ(temporary_.read("at/new"), "text");
  save("old", "newer");
  EXPECT_EQ(temporary_.read("at/old"), "newer");
  EXPECT_EQ(temporary_.count("at"), 2u);
}

TEST_F(OutputFileTest, WithoutCommitTheOldFileStays) {
  { OutputFile("old").write(std::as_bytes(std::span(std::string_view("half")))); }
  EXPECT_EQ(temporary_.read("at/old"), "old");
  EXPECT_EQ(temporary_.count("at"), 1u);
}

TEST_F(OutputFileTest, IsTheOnlyOneForItsPlaceUntilItIsDone) {
  std::filesystem::create_symlink("old", temporary_ / "at/link");
  {
    OutputFile first("old");
    for (const char* name : {"old", "./old", "../at/old", "link"}) {
      const std::string path = resolvePath(name);
      EXPECT_EQ(errorOf([name] { OutputFile{name}; }),
                "cannot write '" + path + "': this program is already writing it; name another file");
    }
    OutputFile other("other");
    first.commit();
    OutputFile again("old");
  }
  OutputFile last("old");
  last.write(std::as_bytes(std::span(std::string_view("last"))));
  last.commit();
  EXPECT_EQ(temporary_.read("at/old"), "last");
}

TEST_F(OutputFileTest, LeavesNothingWhereTheProgramIsKilled) {
  const int folder = ::open((temporary_ / "at").c_str(), O_RDONLY | O_DIRECTORY);
  const int unnamed = ::openat(folder, ".", O_TMPFILE | O_WRONLY, 0666);
  ::close(folder);
  if (unnamed < 0) GTEST_SKIP() << "this file system has no files without a name";
  ::close(unnamed);
  const pid_t child = ::fork();
  if (child == 0) {
    OutputFile file("old");
    file.write(std::as_bytes(std::span(std::string_view("half"))));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(temporary_.read("at/old"), "old");
  EXPECT_EQ(temporary_.count("at"), 1u);
}

TEST_F(OutputFileTest, ALinkStaysAndWhatItLeadsToIsWritten) {
  temporary_.link("at/link", "link2");
  temporary_.link("at/link2", temporary_ / "at/old");
  temporary_.link("at/dangling", "made");
  save("link", "through a link");
  save("dangling", "made by a link");
  EXPECT_TRUE(std::filesystem::is_symlink(temporary_ / "at/link"));
  EXPECT_TRUE(std::filesystem::is_symlink(temporary_ / "at/link2"));
  EXPECT_EQ(temporary_.read("at/old"), "through a link");
  EXPECT_EQ(temporary_.read("at/made"), "made by a link");
}

TEST_F(OutputFileTest, KeepsPermissionsOfWhatItReplaces) {
  const auto permissionsOf = [&](const std::string& path) {
    return std::filesystem::status(temporary_ / path).permissions();
  };
  const auto wanted = std::filesystem::perms::owner_all | std::filesystem::perms::others_exec;
  std::filesystem::permissions(temporary_ / "at/old", wanted);
  temporary_.link("at/link", "old");
  OutputFile file("link");
  file.write(std::as_bytes(std::span(std::string_view("newer"))));
  file.commit();
  EXPECT_EQ(temporary_.read("at/old"), "newer");
  EXPECT_EQ(permissionsOf("at/old"), wanted);
}

TEST_F(OutputFileTest, RefusesWhatMayNotBeWritten) {
  using std::filesystem::perms;
  std::filesystem::permissions(temporary_ / "at", perms::all);
  std::filesystem::permissions(temporary_ / "at/..", perms::all);
  std::filesystem::permissions(temporary_ / "at/old", perms::owner_read | perms::group_read | perms::others_read);
  // Root may write everything.
  const bool is_root = ::geteuid() == 0;
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(::seteuid(is_root ? kNobody : ::geteuid()), 0);
  const std::string error = errorOf([] { OutputFile("old"); });
  ASSERT_EQ(::seteuid(is_root ? 0 : ::geteuid()), 0);
  EXPECT_EQ(error, "cannot write '" + (temporary_ / "at/old") + "': Permission denied");
}

TEST_F(OutputFileTest, RefusesWhatTheProcessReads) {
  temporary_.write("at/script", "runs");
  temporary_.link("at/link", "script");
  protectFile(temporary_ / "at/link");
  protectFile(temporary_ / "at/missing");
  EXPECT_EQ(errorOf([] { OutputFile("script"); }), "cannot write '" + (temporary_ / "at/script") +
                                                       "': this program already reads or writes it; name another file");
  EXPECT_EQ(temporary_.read("at/script"), "runs");
  save("missing", "is made");
  EXPECT_EQ(temporary_.read("at/missing"), "is made");
}

TEST_F(OutputFileTest, TheFolderMayMoveMeanwhile) {
  OutputFile file("new");
  std::filesystem::rename(temporary_ / "at", temporary_ / "moved");
  temporary_.write("at/new", "another's");
  file.commit();
  EXPECT_EQ(temporary_.read("at/new"), "another's");
  EXPECT_TRUE(std::filesystem::exists(temporary_ / "moved/new"));
  EXPECT_EQ(temporary_.count("moved"), 2u);
}

TEST_F(OutputFileTest, WhatIsNoFileIsLeftAlone) {
  ASSERT_EQ(::mkfifo((temporary_ / "at/pipe").c_str(), 0600), 0);
  temporary_.link("at/round", "round");
  const auto fault = [&](const std::string& path) { return errorOf([&] { save(path, "x"); }); };
  const std::string at = "cannot write '" + (temporary_ / "at/");
  EXPECT_EQ(fault("pipe"), at + "pipe': it is not a regular file");
  EXPECT_EQ(fault("/dev/null"), "cannot write '/dev/null': it is not a regular file");
  EXPECT_EQ(fault("."), at + ".': Is a directory");
  EXPECT_EQ(fault("../at"), at + "../at': Is a directory");
  EXPECT_EQ(fault("../at/"), at + "../at/': Is a directory");
  EXPECT_EQ(fault("no/x"), at + "no/x': No such file or directory");
  EXPECT_EQ(fault("old/x"), at + "old/x': Not a directory");
  EXPECT_EQ(fault("round"), at + "round': Too many levels of symbolic links");
  EXPECT_EQ(fault(""), "an empty path names no file");
  EXPECT_EQ(temporary_.count("at"), 3u);
}

}  // namespace
}  // namespace boxcar
