#pragma once

#include <boxcar/dispatcher/fallbacks/handler.h>
#include <boxcar/interpreter/diagnostic.h>
#include <boxcar/interpreter/limits.h>
#include <boxcar/interpreter/source.h>
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

// A conversation in the language of scripts: each input is compiled knowing what those before have left, their
// variables, functions, constants, operators, modes, imports and `use`s.
//
//   Session session;
//   session.evaluate("x = ones(2, 3)");
//   session.evaluate("x.sum()").value;   // a Tensor
//
// A function or a constant that an input declares anew takes the place of the former for what is compiled from then on;
// functions that were compiled before go on with the former. An operator that is defined anew changes for all callers,
// so that its schema must stay the same while anything else of the session calls it. A session belongs to the thread
// that made it.
class BOXCAR_API Session final {
 public:
  // [args] are what `argv` is at the beginning.
  explicit Session(std::vector<std::string> args = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  struct Result {
    // Of the input's last statement, where it is an expression that has one. It may be None.
    std::optional<IValue> value;
    // That it is the text of a dtype or its like, which is shown without quotes.
    bool is_name = false;
    std::vector<Diagnostic> warnings;
  };
  // Compiles and runs an input, which messages call "<input 3>", or [name]: relative paths start from the folder in it.
  // Throws CompileError, or Error where its operators contradict what is registered; nothing has changed then. Throws
  // ScriptError; what had been assigned and declared before stays then.
  Result evaluate(std::string text);
  Result evaluate(std::string text, std::string name);

  // Whether [text] is the beginning of an input: a bracket or a block is open at its end, and nothing is wrong before.
  static bool isUnfinished(std::string text);

  // The bytecode of an input that is not run. Throws as evaluate() does.
  interp::CodeUnit compile(std::string text) const;

  // Runs an expression again and again for about [length], at least once; how long each run took. What it assigns is
  // forgotten. Throws as evaluate() does, and Error where [text] is no single expression.
  std::vector<std::chrono::nanoseconds> time(std::string text, std::chrono::nanoseconds length);

  struct Variable {
    std::string name;
    TypePtr type;
    IValue value;
  };
  // By name, constants with them.
  std::vector<Variable> variables() const;
  // The functions that the next input may call, by name.
  std::vector<FunctionSchema> functions() const;
  // The bytecode of the input or file that declared the function, and its index there; null where there is none.
  const interp::CodeUnit* codeOf(std::string_view function, size_t& index) const;
  // The bytecode of the input or file that declared the operator, and where in its source; null where there is none.
  const interp::CodeUnit* codeOf(const OperatorName& op, Span& place) const;
  // What inputs have declared, as they wrote it: functions, operators, modes, imports and `use`s. A text
  // that begins with it has names as the next input has them; a name that was declared again is in it twice.
  const std::string& declarations() const noexcept;
  // The names of the modes that inputs and imports have declared.
  std::vector<std::string> modes() const;

  // Switches a handler, or a mode of the session, on for the inputs that follow, inside of those that are on already.
  // [title] is for switchedOn(). Throws Error where there is no such mode.
  void switchOn(std::unique_ptr<Handler> handler, std::string title);
  void switchOnMode(const std::string& name);
  // What is on, the innermost last.
  std::vector<std::string> switchedOn() const;
  // Switches the innermost off; a handler's report, or "" (a mode's exit block has run then). Throws what that throws.
  // [failed]: the session ends with an error.
  std::string switchOff(bool failed = false);

  // Forgets all but what is switched on. Operators are none any more.
  void reset();

  // How far the runs may go that begin from now on, and calls that C++ makes of the session's operators and handlers.
  void setLimits(const RunLimits& limits) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace boxcar
