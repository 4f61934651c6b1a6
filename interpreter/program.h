#pragma once

#include <boxcar/interpreter/diagnostic.h>
#include <boxcar/interpreter/limits.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/stack.h>
#include <boxcar/schema/function_schema.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar {

namespace interp {
struct CodeUnit;
class LoadedScript;
}  // namespace interp

// A script, compiled and ready to run. Its operators are operators of the process as long as the Program lives: other
// scripts and C++ can call them, handlers wrap them.
//
//   Program program = Program::load("scripts/digits.ops");
//   program.run({"--verbose"});               // the script's statements; `argv` is ["--verbose"]
//   Stack stack;
//   push(stack, ones({2, 2}), 3);
//   program.function("scale").call(stack);    // fn scale(Tensor x, int by) -> Tensor
//   Tensor scaled = pop(stack).toTensor();
//
// Any number of threads may run a program at once, each with frames of its own. Its constants are set by the first run
// that comes to them, and shared: a constant list or dict that a script changes while other threads use it is for the
// script's handlers to change, which run one at a time.
class BOXCAR_API Program final {
 public:
  // Compiles [text], which messages call [name], and registers its operators; relative paths in it start from the
  // folder in [name]. Throws CompileError with all that is wrong in it, or Error where its operators contradict what is
  // registered.
  static Program compile(std::string text, std::string name);
  // The same for a file, also one that a FileAccessGuard forbids: that is for what programs and their imports open.
  // Relative, [path] starts from where the process runs; "-" is standard input. Throws Error where it cannot be read.
  static Program load(const std::string& path);
  // The same for bytecode, as `boxcar asm` reads it. Throws Error where the verifier refuses it.
  static Program fromUnit(interp::CodeUnit unit);

  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  // What the compiler noticed that is no error.
  const std::vector<Diagnostic>& warnings() const noexcept;

  // How far its runs may go that begin from now on, and calls of its operators and handlers, and of those of the files
  // that it imports, which C++ makes: where several programs import one file, the last to say it. Calls that other runs
  // make of them go by the limits of these.
  void setLimits(const RunLimits& limits);

  // Runs the script's statements, on this thread, with [args] in `argv`. Throws ScriptError.
  void run(const std::vector<std::string>& args = {}) const;

  // A function that the script declares with `fn`. It keeps the script loaded.
  class BOXCAR_API Function final {
   public:
    const FunctionSchema& schema() const noexcept;
    // Replaces the arguments, the last values of [stack], by the results: as an operator's boxed call does. Arguments
    // are converted where a script would (int to float, a list to float[]). Throws Error for arguments that do not fit,
    // and ScriptError.
    void call(Stack& stack) const;

   private:
    friend class Program;
    Function(std::shared_ptr<const interp::LoadedScript> script, size_t index) noexcept;

    std::shared_ptr<const interp::LoadedScript> script_;
    size_t index_;
  };
  // Throws Error, which suggests the nearest name, where there is none.
  Function function(std::string_view name) const;
  // The schemas of all functions.
  std::vector<FunctionSchema> functions() const;

 private:
  explicit Program(std::shared_ptr<interp::LoadedScript> script);

  std::shared_ptr<interp::LoadedScript> script_;
};

// What a script is before it is registered.
namespace interp {

// Compiles a script and the files that it imports, and registers nothing but the plugins among these. Throws
// CompileError; warnings stay in [diagnostics].
BOXCAR_API CodeUnit compileText(std::string text, std::string name, Diagnostics& diagnostics);
// All that a file holds; "-" is the standard input. Throws Error, a sentence that names [path]: not there, a directory,
// unreadable.
BOXCAR_API std::string readFile(const std::string& path);
// What messages call that file.
BOXCAR_API std::string nameOfFile(const std::string& path);

}  // namespace interp
}  // namespace boxcar
