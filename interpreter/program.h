#pragma once

#include <boxcar/interpreter/diagnostic.h>
#include <boxcar/ivalue/macros.h>

#include <memory>
#include <string>
#include <vector>

namespace boxcar {

// A script, compiled and ready to run. Its operators are operators of the process as long as the Program lives: other
// scripts and C++ can call them, handlers wrap them.
//
//   Program program = Program::load("scripts/digits.ops");
//   program.run();
class BOXCAR_API Program final {
 public:
  // Compiles [text], which messages call [name], and registers its operators. Throws CompileError with all that is
  // wrong in it, or Error where its operators contradict what is registered.
  static Program compile(std::string text, std::string name);
  // The same for a file. Throws Error where it cannot be read.
  static Program load(const std::string& path);

  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  // What the compiler noticed that is no error.
  const std::vector<Diagnostic>& warnings() const noexcept;

  // Runs the script's statements, on this thread. Throws ScriptError.
  void run();

 private:
  struct State;
  explicit Program(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// What a script is before it is registered.
namespace interp {
struct CodeUnit;

// Throws CompileError; warnings stay in [diagnostics].
BOXCAR_API CodeUnit compileText(std::string text, std::string name, Diagnostics& diagnostics);
// All that a file holds. Throws Error, a sentence that names [path]: not there, a directory, unreadable.
BOXCAR_API std::string readFile(const std::string& path);

}  // namespace interp
}  // namespace boxcar
