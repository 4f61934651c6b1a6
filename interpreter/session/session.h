#pragma once

#include <boxcar/dispatcher/handlers/handler.h>
#include <boxcar/interpreter/runtime/limits.h>
#include <boxcar/interpreter/syntax/diagnostic.h>
#include <boxcar/interpreter/syntax/source.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/function_schema.h>
#include <boxcar/schema/type.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar {

namespace interp {
struct CodeUnit;
}

// An interactive session in the script language. Each input is compiled with what earlier inputs left: their variables,
// functions, constants, operators, modes, imports and `use`s.
//
//   Session session;
//   session.evaluate("x = ones(2, 3)");
//   session.evaluate("x.sum()").value;   // a Tensor
//
// If an input declares a function or a constant again, code compiled from then on uses the new one; functions compiled
// before keep the old one. An operator that is redefined changes for all callers, so its schema must stay the same
// while anything else in the session calls it. A session belongs to the thread that made it.
class BOXCAR_API Session final {
 public:
  // [args]: the initial value of `argv`.
  explicit Session(std::vector<std::string> args = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  struct Result {
    // The value of the input's last statement, if that is an expression with a value. It may be None.
    std::optional<IValue> value;
    // The value is the name of a dtype or similar, which is shown without quotes.
    bool is_name = false;
    std::vector<Diagnostic> warnings;
  };
  // Compiles and runs an input, which messages call "<input 3>", or [name]: relative paths start from the folder in it.
  // Throws CompileError, or Error if its operators contradict what is registered; then nothing has changed. Throws
  // ScriptError; then earlier assignments and declarations of the input remain.
  Result evaluate(std::string text);
  Result evaluate(std::string text, std::string name);

  // Whether [text] is an unfinished input: a bracket or a block is open at its end, and nothing before is wrong.
  static bool isUnfinished(std::string text);

  // Returns the bytecode of an input without running it. Throws as evaluate() does.
  interp::CodeUnit compile(std::string text) const;

  // Runs an expression repeatedly for about [length], at least once; returns the time of each run. Its assignments are
  // dropped. Throws as evaluate() does, and Error if [text] is not a single expression.
  std::vector<std::chrono::nanoseconds> time(std::string text, std::chrono::nanoseconds length);

  struct Variable {
    std::string name;
    TypePtr type;
    IValue value;
  };
  // Returns the variables and constants, by name.
  std::vector<Variable> variables() const;
  // Returns the functions that the next input may call, by name.
  std::vector<FunctionSchema> functions() const;
  // Returns the bytecode of the input or file that declared the function, and its index there; null if there is none.
  const interp::CodeUnit* codeOf(std::string_view function, size_t& index) const;
  // Returns the bytecode of the input or file that declared the operator, and its place in the source; null if there is
  // none.
  const interp::CodeUnit* codeOf(const OperatorName& op, Span& place) const;
  // Returns the declarations of all inputs as written: functions, operators, modes, imports and `use`s. In a text that
  // begins with it, names mean what they mean in the next input; a name that was declared again is in it twice.
  const std::string& declarations() const noexcept;
  // Returns the names of the modes that inputs and imports have declared.
  std::vector<std::string> modes() const;

  // Switches on a handler, or a mode of the session, for the inputs that follow, inside those that are already on.
  // [title] is for switchedOn(). Throws Error if there is no such mode.
  void switchOn(std::unique_ptr<Handler> handler, std::string title);
  void switchOnMode(const std::string& name);
  // Returns what is on, innermost last.
  std::vector<std::string> switchedOn() const;
  // Switches the innermost one off. Returns a handler's report, or "" for a mode after its exit block has run. Throws
  // what these throw. [failed]: the session ends with an error.
  std::string switchOff(bool failed = false);

  // Forgets everything except what is switched on. Its operators are unregistered.
  void reset();

  // Sets the limits for runs that begin from now on, and for calls from C++ of the session's operators and handlers.
  void setLimits(const RunLimits& limits) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace boxcar
