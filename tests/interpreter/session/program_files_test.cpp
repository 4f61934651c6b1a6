#include <boxcar/interpreter/runtime/script_error.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ivalue/file_access.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/temporary_folder.h"

namespace boxcar {
namespace {

// A program in folder home calls an operator that a program in folder data defines. The operator loads [path].
class ProgramFiles : public testing::Test {
 protected:
  ProgramFiles() {
    temporary_.write("home/x", "\x01 is no header");
    temporary_.write("data/x", "\x01 is no header");
    temporary_.write("secret/x", "\x01 is no header");
  }

  // Returns the error of loading, which tells which file was opened.
  std::string faultOfLoading(const std::string& path) const {
    Program library = Program::compile("op program_files::peek(str path) -> int { return len(io::load(path)) }",
                                       temporary_ / "data/library.ops");
    return faultOf("program_files::peek(\"" + path + "\")");
  }
  std::string faultOf(const std::string& text) const {
    Program program = Program::compile(text, temporary_ / "home/main.ops");
    try {
      program.run();
    } catch (const ScriptError& error) {
      const std::string message = error.message();
      return message.substr(0, message.find_first_of(":;\n"));
    }
    return "no error";
  }
  std::string opened(const std::string& name) const {
    return "'" + (temporary_ / name) + "' is not a valid safetensors file";
  }

  TemporaryFolder temporary_;
};

TEST_F(ProgramFiles, RelativePathsStartFromTheFolderOfTheCode) {
  EXPECT_EQ(faultOf("io::load(\"x\")"), opened("home/x"));
  EXPECT_EQ(faultOfLoading("x"), opened("data/x"));
  EXPECT_EQ(faultOfLoading("../secret/x"), opened("data/../secret/x"));
}

TEST_F(ProgramFiles, PermissionsAreThoseOfTheRun) {
  {
    const FileAccessGuard guard(FileAccess::sandboxed(temporary_ / "home"));
    EXPECT_EQ(faultOf("io::load(\"x\")"), opened("home/x"));
    EXPECT_EQ(faultOfLoading("../home/x"), opened("data/../home/x"));
    EXPECT_EQ(faultOfLoading("x"), "cannot open '" + (temporary_ / "data/x") + "'");
  }
  const FileAccessGuard guard(FileAccess::sandboxed(temporary_ / "home", {.readable = {temporary_ / "data"}}));
  EXPECT_EQ(faultOfLoading("x"), opened("data/x"));
  EXPECT_EQ(faultOfLoading("../secret/x"), "cannot open '" + (temporary_ / "data/../secret/x") + "'");
  // The program's own folder is unchanged after the operator ran.
  EXPECT_EQ(faultOf("io::load(\"x\")"), opened("home/x"));
}

}  // namespace
}  // namespace boxcar
