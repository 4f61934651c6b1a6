#pragma once

#include <boxcar/interpreter/runtime/limits.h>
#include <boxcar/interpreter/syntax/diagnostic.h>
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

// A compiled script that is ready to run. Its operators are registered in the process while the Program lives: other
// scripts and C++ can call them, handlers wrap them.
//
//   Program program = Program::load("scripts/digits.ops");
//   program.run({"--verbose"});               // the script's statements; `argv` is ["--verbose"]
//   Stack stack;
//   push(stack, ones({2, 2}), 3);
//   program.function("scale").call(stack);    // fn scale(Tensor x, int by) -> Tensor
//   Tensor scaled = pop(stack).toTensor();
//
// Any number of threads may run a program at once, each with its own frames. Its constants are shared, and set by the
// first run that reaches them. If several threads use a constant list or dict, only the script's handlers should change
// it; they run one at a time.
class BOXCAR_API Program final {
 public:
  // Compiles [text], which messages call [name], and registers its operators; relative paths in it start from the
  // folder in [name]. Throws CompileError with everything that is wrong in it, or Error if its operators contradict
  // what is registered.
  static Program compile(std::string text, std::string name);
  // Compiles a file, even one that a FileAccessGuard forbids: the guard is for files that programs and their imports
  // open. A relative [path] starts from the process's working directory; "-" is standard input. Also throws Error if
  // the file cannot be read.
  static Program load(const std::string& path);
  // Loads bytecode, as `boxcar asm` reads it. Throws Error if the verifier rejects it.
  static Program fromUnit(interp::CodeUnit unit);

  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  // The compiler's warnings.
  const std::vector<Diagnostic>& warnings() const noexcept;

  // Sets the limits for runs that begin from now on. They also apply when C++ calls the program's operators and
  // handlers, and those of the files that it imports; if several programs import a file, the last call of setLimits
  // counts. When other runs call them, the limits of those runs apply.
  void setLimits(const RunLimits& limits);

  // Runs the script's statements on this thread, with [args] in `argv`. Throws ScriptError.
  void run(const std::vector<std::string>& args = {}) const;

  // A function that the script declares with `fn`. It keeps the script loaded.
  class BOXCAR_API Function final {
   public:
    const FunctionSchema& schema() const noexcept;
    // Replaces the arguments, the last values of [stack], by the results, as an operator's boxed call does. Arguments
    // are converted as in a script (int to float, a list to float[]). Throws Error for arguments that do not fit, and
    // ScriptError.
    void call(Stack& stack) const;

   private:
    friend class Program;
    Function(std::shared_ptr<const interp::LoadedScript> script, size_t index) noexcept;

    std::shared_ptr<const interp::LoadedScript> script_;
    size_t index_;
  };
  // Returns the function called [name], or the method `Struct.method`, which takes the struct's value first. Throws
  // Error, which suggests the nearest name, if there is none.
  Function function(std::string_view name) const;
  // Replaces the program by one that does the same in fewer passes over memory: see Preparation in the manual. Files
  // that it imports are prepared for it, too; other programs keep theirs. [rules]: paths of scripts with rewrites of
  // your own. Constants are set anew by the next run; functions that are held go on with the old ones. Throws as
  // compile() does, and leaves the program as it was then.
  void prepare(const std::vector<std::string>& rules = {});

  // Returns the schemas of all functions, without methods.
  std::vector<FunctionSchema> functions() const;

 private:
  explicit Program(std::shared_ptr<interp::LoadedScript> script);

  std::shared_ptr<interp::LoadedScript> script_;
};

// A script before it is registered.
namespace interp {

// Compiles a script and the files that it imports. Registers nothing except the plugins among them. Throws
// CompileError; warnings stay in [diagnostics].
BOXCAR_API CodeUnit compileText(std::string text, std::string name, Diagnostics& diagnostics);
// Returns the contents of a file; "-" is standard input. Throws Error with a sentence that names [path]: missing, a
// directory, unreadable.
BOXCAR_API std::string readFile(const std::string& path);
// Returns the name of that file in messages.
BOXCAR_API std::string nameOfFile(const std::string& path);

}  // namespace interp
}  // namespace boxcar
