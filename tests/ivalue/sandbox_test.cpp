#include <boxcar/ivalue/file_access.h>
#include <boxcar/ivalue/open_beneath.h>
#include <boxcar/ivalue/output_file.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "tests/temporary_folder.h"
#include "tests/test_support.h"

namespace boxcar {
namespace {

namespace fs = std::filesystem;

std::string contents(const std::string& path) {
  const FileDescriptor file = openForReading(path);
  char text[100];
  const ssize_t size = ::read(file.get(), text, sizeof(text));
  return size < 0 ? lastSystemError() : std::string(text, static_cast<size_t>(size));
}

void save(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

std::string faultOfReading(const std::string& path) {
  return errorOf([&] { contents(path); });
}

std::string faultOfWriting(const std::string& path) {
  return errorOf([&] { save(path, "overwritten"); });
}

// A folder "home" for the program, with others around it. Every test runs with the kernel's openat2(2) and with the
// walk that replaces it.
class SandboxTest : public testing::TestWithParam<bool> {
 protected:
  SandboxTest() {
    detail::pretendToLackOpenat2(GetParam());
    temporary_.write("home/file", "home");
    temporary_.write("home/sub/file", "sub");
    temporary_.write("data/file", "data");
    temporary_.write("results/file", "results");
    temporary_.write("secret/file", "secret");
    temporary_.write("home2/file", "secret");
  }
  ~SandboxTest() override { detail::pretendToLackOpenat2(false); }

  FileAccess sandboxed(const SandboxFolders& folders = {}) const {
    return FileAccess::sandboxed(temporary_ / "home", folders);
  }
  // A sandbox that may read data and write results.
  FileAccess opened() const {
    return sandboxed({.readable = {temporary_ / "data"}, .writable = {temporary_ / "results"}});
  }
  // The errors for [path], which leads to the place [name]; both are relative to the temporary folder.
  std::string notReadable(const std::string& path, const std::string& name) const {
    return "cannot open '" + (temporary_ / path) + "': " + outside(path, name, "read", "read", "readable");
  }
  std::string notWritable(const std::string& path, const std::string& name) const {
    return "cannot write '" + (temporary_ / path) + "': " + outside(path, name, "written", "write", "writable");
  }

  void swapWhileItIsUsed(const std::string& path, const std::string& swapped, const std::string& target);

  TemporaryFolder temporary_;

 private:
  std::string outside(const std::string& path, const std::string& name, const std::string& done,
                      const std::string& option, const std::string& field) const {
    return (path == name ? "it" : "'" + (temporary_ / name) + "'") +
           " is outside of the folders that the sandbox allows to be " + done + "; allow it with --allow-" + option +
           " '" + fs::path(temporary_ / name).parent_path().string() + "' (in C++: SandboxFolders::" + field + ")";
  }
};

INSTANTIATE_TEST_SUITE_P(Ways, SandboxTest, testing::Bool(),
                         [](const auto& way) { return way.param ? "Walk" : "Openat2"; });

TEST_P(SandboxTest, ItsFolderMayBeRead) {
  const FileAccessGuard guard(sandboxed());
  EXPECT_TRUE(fileAccess().restricted());
  EXPECT_EQ(contents("file"), "home");
  EXPECT_EQ(contents("./sub//file"), "sub");
  EXPECT_EQ(contents("sub/../file"), "home");
  EXPECT_EQ(contents("../home/file"), "home");
  EXPECT_EQ(contents("../../../../../../../../../../" + (temporary_ / "home/file")), "home");
  EXPECT_EQ(contents(temporary_ / "home/sub/file"), "sub");
}

TEST_P(SandboxTest, NothingElseMayBe) {
  const FileAccessGuard guard(sandboxed());
  EXPECT_EQ(faultOfReading("../secret/file"), notReadable("home/../secret/file", "secret/file"));
  EXPECT_EQ(faultOfReading(temporary_ / "secret/file"), notReadable("secret/file", "secret/file"));
  EXPECT_EQ(faultOfReading("sub/../../secret/file"), notReadable("home/sub/../../secret/file", "secret/file"));
  // A name that only starts like the folder's.
  EXPECT_EQ(faultOfReading("../home2/file"), notReadable("home/../home2/file", "home2/file"));
  EXPECT_EQ(faultOfReading("/etc/passwd"),
            "cannot open '/etc/passwd': it is outside of the folders that the sandbox allows to be read; allow it "
            "with --allow-read '/etc' (in C++: SandboxFolders::readable)");
}

TEST_P(SandboxTest, WhatIsElsewhereIsNotToldFromWhatIsNot) {
  const FileAccessGuard guard(sandboxed());
  EXPECT_EQ(faultOfReading("../secret/missing"), notReadable("home/../secret/missing", "secret/missing"));
  EXPECT_EQ(faultOfReading("../missing/file"), notReadable("home/../missing/file", "missing/file"));
  EXPECT_EQ(contents("../missing/../home/file"), "home");
}

TEST_P(SandboxTest, NothingMayBeWritten) {
  const FileAccessGuard guard(sandboxed());
  EXPECT_EQ(faultOfWriting("file"), notWritable("home/file", "home/file"));
  EXPECT_EQ(faultOfWriting("new"), notWritable("home/new", "home/new"));
  EXPECT_EQ(faultOfWriting("../secret/file"), notWritable("home/../secret/file", "secret/file"));
  EXPECT_EQ(temporary_.read("home/file"), "home");
  EXPECT_EQ(temporary_.read("secret/file"), "secret");
  EXPECT_EQ(temporary_.count("home"), 2u);
}

TEST_P(SandboxTest, OtherFoldersAreReadOrWrittenAsAllowed) {
  const FileAccessGuard guard(opened());
  EXPECT_EQ(contents("../data/file"), "data");
  EXPECT_EQ(faultOfWriting("../data/file"), notWritable("home/../data/file", "data/file"));
  save("../results/file", "replaced");
  save(temporary_ / "results/new", "made");
  EXPECT_EQ(temporary_.read("results/file"), "replaced");
  EXPECT_EQ(temporary_.read("results/new"), "made");
  EXPECT_EQ(temporary_.count("results"), 2u);
  EXPECT_EQ(faultOfReading("../results/file"), notReadable("home/../results/file", "results/file"));
}

TEST_P(SandboxTest, AFolderMayBeReadAndWritten) {
  const FileAccessGuard guard(
      sandboxed({.readable = {temporary_ / "results"}, .writable = {temporary_ / "data/..", temporary_ / "results"}}));
  save("../results/new", "made");
  EXPECT_EQ(contents("../results/new"), "made");
  save("new", "in the folder around it");
  EXPECT_EQ(contents("new"), "in the folder around it");
}

TEST_P(SandboxTest, EverythingBeneathTheRoot) {
  const FileAccessGuard guard(sandboxed({.readable = {"/"}}));
  EXPECT_EQ(contents("../secret/file"), "secret");
  EXPECT_EQ(contents("/../" + (temporary_ / "secret/file")), "secret");
  EXPECT_EQ(faultOfReading("/"), "cannot read '/': it is a folder, not a file");
}

TEST_P(SandboxTest, PlainErrorsStayPlain) {
  temporary_.write("results/sub/file", "x");
  const FileAccessGuard guard(opened());
  const std::string home = temporary_ / "home/";
  EXPECT_EQ(faultOfReading("missing"), "cannot open '" + home + "missing': No such file or directory");
  EXPECT_EQ(faultOfReading("missing/../file"), "cannot open '" + home + "missing/../file': No such file or directory");
  EXPECT_EQ(faultOfReading("file/x"), "cannot open '" + home + "file/x': Not a directory");
  EXPECT_EQ(faultOfReading("file/"), "cannot open '" + home + "file/': Not a directory");
  EXPECT_EQ(faultOfReading("file/../file"), "cannot open '" + home + "file/../file': Not a directory");
  EXPECT_EQ(faultOfReading("."), "cannot read '" + home + ".': it is a folder, not a file");
  EXPECT_EQ(faultOfReading("sub"), "cannot read '" + home + "sub': it is a folder, not a file");
  EXPECT_EQ(faultOfReading(""), "an empty path names no file");
  const std::string results = "cannot write '" + (temporary_ / "home/../results");
  EXPECT_EQ(faultOfWriting("../results"), results + "': Is a directory");
  EXPECT_EQ(faultOfWriting("../results/sub"), results + "/sub': Is a directory");
  EXPECT_EQ(faultOfWriting("../results/no/x"), results + "/no/x': No such file or directory");
  EXPECT_EQ(faultOfWriting("../results/file/x"), results + "/file/x': Not a directory");
}

TEST_P(SandboxTest, LinksLeadAnywhereInTheFolders) {
  temporary_.link("home/relative", "sub/file");
  temporary_.link("home/absolute", temporary_ / "home/sub");
  temporary_.link("home/up", "../home/sub/../file");
  temporary_.link("home/chain", "absolute/../relative");
  temporary_.link("home/across", "../data");
  temporary_.link("home/results", "../results");
  temporary_.link("results/link", "file");
  const FileAccessGuard guard(opened());
  EXPECT_EQ(contents("relative"), "sub");
  EXPECT_EQ(contents("absolute/file"), "sub");
  EXPECT_EQ(contents("up"), "home");
  EXPECT_EQ(contents("chain"), "sub");
  EXPECT_EQ(contents("across/file"), "data");
  save("results/link", "through two links");
  EXPECT_EQ(temporary_.read("results/file"), "through two links");
}

TEST_P(SandboxTest, LinksThatLeadOutAreRefused) {
  temporary_.link("home/out", "../secret/file");
  temporary_.link("home/outer", temporary_ / "secret");
  temporary_.link("home/chain", "sub/../out");
  temporary_.link("results/out", "../secret/file");
  temporary_.link("results/new", "../secret/new");
  const FileAccessGuard guard(opened());
  const auto by_link = [&](const std::string& link, const std::string& doing, const std::string& name) {
    return "the symbolic link '" + (temporary_ / link) + "' leads to '" + (temporary_ / name) +
           "', which is outside of the folders that the sandbox allows to be " + doing + " '" +
           (temporary_ / "secret") + "' (in C++: SandboxFolders::";
  };
  const std::string read = "read; allow it with --allow-read";
  const std::string written = "written; allow it with --allow-write";
  EXPECT_EQ(faultOfReading("out"), "cannot open '" + (temporary_ / "home/out") +
                                       "': " + by_link("home/out", read, "secret/file") + "readable)");
  EXPECT_EQ(faultOfReading("outer/x"), "cannot open '" + (temporary_ / "home/outer/x") +
                                           "': " + by_link("home/outer", read, "secret/x") + "readable)");
  EXPECT_EQ(faultOfReading("chain"), "cannot open '" + (temporary_ / "home/chain") +
                                         "': " + by_link("home/out", read, "secret/file") + "readable)");
  EXPECT_EQ(faultOfWriting("../results/out"), "cannot write '" + (temporary_ / "home/../results/out") +
                                                  "': " + by_link("results/out", written, "secret/file") + "writable)");
  EXPECT_EQ(faultOfWriting("../results/new"), "cannot write '" + (temporary_ / "home/../results/new") +
                                                  "': " + by_link("results/new", written, "secret/new") + "writable)");
  EXPECT_EQ(temporary_.read("secret/file"), "secret");
  EXPECT_EQ(temporary_.count("secret"), 1u);
}

TEST_P(SandboxTest, LinksOutsideMayLeadIn) {
  temporary_.link("alias", "home");
  const FileAccessGuard guard(sandboxed());
  EXPECT_EQ(contents("../alias/file"), "home");
  EXPECT_EQ(contents(temporary_ / "alias/sub/file"), "sub");
}

TEST_P(SandboxTest, LinksThatGoRoundEnd) {
  temporary_.link("home/a", "b");
  temporary_.link("home/b", "a");
  const FileAccessGuard guard(sandboxed());
  EXPECT_EQ(faultOfReading("a"), "cannot open '" + (temporary_ / "home/a") + "': Too many levels of symbolic links");
}

TEST_P(SandboxTest, OnlyRegularFiles) {
  ASSERT_EQ(::mkfifo((temporary_ / "home/pipe").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((temporary_ / "results/pipe").c_str(), 0600), 0);
  temporary_.link("home/null", "/dev/null");
  const FileAccessGuard guard(
      sandboxed({.readable = {"/dev", "/proc"}, .writable = {temporary_ / "results", "/dev", "/proc"}}));
  EXPECT_EQ(faultOfReading("pipe"), "cannot read '" + (temporary_ / "home/pipe") + "': it is not a regular file");
  EXPECT_EQ(faultOfReading("null"), "cannot read '" + (temporary_ / "home/null") + "': it is not a regular file");
  EXPECT_EQ(faultOfWriting(temporary_ / "results/pipe"),
            "cannot write '" + (temporary_ / "results/pipe") + "': it is not a regular file");
  EXPECT_EQ(faultOfWriting("/dev/null"), "cannot write '/dev/null': it is not a regular file");
}

// A link in /proc opens its file whatever the link's text is; the sandbox goes by the text.
TEST_P(SandboxTest, OpenFilesAreNoWayOut) {
  const FileDescriptor secret(::open((temporary_ / "secret/file").c_str(), O_RDWR));
  const FileDescriptor folder(::open((temporary_ / "secret").c_str(), O_RDONLY));
  const FileAccessGuard guard(sandboxed({.readable = {"/proc"}, .writable = {"/proc"}}));
  const std::string file = "/proc/self/fd/" + std::to_string(secret.get());
  const std::string in_folder = "/proc/self/fd/" + std::to_string(folder.get()) + "/file";
  const auto leads_out = [&](const std::string& fault) {
    return fault.find("leads to '" + (temporary_ / "secret/file") + "', which is outside of") != std::string::npos;
  };
  EXPECT_TRUE(leads_out(faultOfReading(file))) << faultOfReading(file);
  EXPECT_TRUE(leads_out(faultOfWriting(file))) << faultOfWriting(file);
  EXPECT_TRUE(leads_out(faultOfReading(in_folder))) << faultOfReading(in_folder);
  EXPECT_TRUE(leads_out(faultOfWriting(in_folder))) << faultOfWriting(in_folder);
  EXPECT_TRUE(leads_out(faultOfReading("/proc/self/root" + (temporary_ / "secret/file"))));
  EXPECT_EQ(temporary_.read("secret/file"), "secret");
}

TEST_P(SandboxTest, TheFoldersStayWhatTheyWere) {
  const FileAccessGuard guard(opened());
  for (const std::string name : {"home", "data", "results"}) {
    fs::rename(temporary_ / name, temporary_ / (name + "_moved"));
    temporary_.link(name, "secret");
  }
  EXPECT_EQ(contents("file"), "home");
  EXPECT_EQ(contents(temporary_ / "home/sub/file"), "sub");
  EXPECT_EQ(contents("../data/file"), "data");
  save("../results/file", "replaced");
  EXPECT_EQ(temporary_.read("results_moved/file"), "replaced");
  EXPECT_EQ(temporary_.read("secret/file"), "secret");
}

TEST_P(SandboxTest, AnotherFolderHasTheSamePermissions) {
  const FileAccessGuard outer(opened());
  const FileAccessGuard inner(fileAccess().withFolder(temporary_ / "data"));
  EXPECT_TRUE(fileAccess().restricted());
  EXPECT_EQ(contents("file"), "data");
  EXPECT_EQ(contents("../home/file"), "home");
  EXPECT_EQ(faultOfReading("../secret/file"), notReadable("data/../secret/file", "secret/file"));
  const FileAccessGuard innermost(fileAccess().withFolder(temporary_ / "secret"));
  EXPECT_EQ(faultOfReading("file"), notReadable("secret/file", "secret/file"));
}

TEST_P(SandboxTest, RelativeFoldersStartFromTheCurrentDirectory) {
  const fs::path before = fs::current_path();
  fs::current_path(temporary_.path());
  FileAccess access = FileAccess::sandboxed("home", {.readable = {"data"}});
  fs::current_path(before);
  const FileAccessGuard guard(access);
  EXPECT_EQ(contents("file"), "home");
  EXPECT_EQ(contents("../data/file"), "data");
  EXPECT_EQ(faultOfReading("../secret/file"), "cannot open 'home/../secret/file': '" + (temporary_ / "secret/file") +
                                                  "' is outside of the folders that the sandbox allows to be read; "
                                                  "allow it with --allow-read '" +
                                                  (temporary_ / "secret") + "' (in C++: SandboxFolders::readable)");
  const FileAccessGuard inner(access.withFolder("data"));
  EXPECT_EQ(contents("file"), "data");
}

TEST_P(SandboxTest, TheCurrentDirectoryIsAFolderToo) {
  const fs::path before = fs::current_path();
  fs::current_path(temporary_ / "home");
  FileAccess access = FileAccess::sandboxed("");
  fs::current_path(before);
  const FileAccessGuard guard(access);
  EXPECT_EQ(contents("sub/file"), "sub");
  EXPECT_EQ(errorOf([] { contents("../secret/file"); }).substr(0, 32), "cannot open '../secret/file': '/");
}

TEST_P(SandboxTest, FoldersThatCannotBeOpened) {
  EXPECT_EQ(errorOf([&] { sandboxed({.readable = {temporary_ / "no"}}); }),
            "the sandbox cannot allow the folder '" + (temporary_ / "no") + "' to be read: No such file or directory");
  EXPECT_EQ(errorOf([&] { sandboxed({.writable = {temporary_ / "home/file"}}); }),
            "the sandbox cannot allow the folder '" + (temporary_ / "home/file") + "' to be written: Not a directory");
  EXPECT_EQ(errorOf([&] { FileAccess::sandboxed("no/folder"); }),
            "the sandbox cannot allow the folder 'no/folder' to be read: No such file or directory");
}

// Reads [path] in the sandbox's folder and writes it in the results folder. Meanwhile a thread keeps exchanging
// [swapped] in both for a link to [target] and back again; the name never disappears.
void SandboxTest::swapWhileItIsUsed(const std::string& path, const std::string& swapped, const std::string& target) {
  for (const std::string folder : {"home/", "results/"}) {
    temporary_.write(folder + path, "allowed");
    temporary_.link(folder + "other", target);
  }
  const auto exchange = [&](const std::string& folder) {
    return ::renameat2(AT_FDCWD, (temporary_ / (folder + swapped)).c_str(), AT_FDCWD,
                       (temporary_ / (folder + "other")).c_str(), RENAME_EXCHANGE) == 0;
  };
  if (!exchange("home/")) GTEST_SKIP() << "this file system cannot exchange files";

  const FileAccessGuard guard(sandboxed({.writable = {temporary_ / "results"}}));
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done) {
      exchange("home/");
      exchange("results/");
    }
  });
  int read = 0;
  int refused = 0;
  std::string worst = "allowed";
  for (int i = 0; i < 20000 && (i < 2000 || read == 0 || refused == 0); ++i) {
    try {
      const std::string text = contents(path);
      if (text != "allowed") worst = text;
      ++read;
    } catch (const Error&) {
      ++refused;
    }
    if (i % 10 == 0) faultOfWriting("../results/" + path);
  }
  done = true;
  other.join();
  EXPECT_EQ(worst, "allowed");
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
  EXPECT_EQ(temporary_.read("secret/file"), "secret");
  EXPECT_EQ(temporary_.count("secret"), 1u);
}

TEST_P(SandboxTest, AFileThatIsSwappedForALinkNeverLeadsOut) { swapWhileItIsUsed("way", "way", "../secret/file"); }

TEST_P(SandboxTest, AFolderThatIsSwappedForALinkNeverLeadsOut) { swapWhileItIsUsed("way/file", "way", "../secret"); }

}  // namespace
}  // namespace boxcar
