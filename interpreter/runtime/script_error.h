#pragma once

#include <boxcar/interpreter/syntax/source.h>
#include <boxcar/interpreter/syntax/text_colours.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace boxcar {

// A call of the script that was active when it failed.
struct ScriptFrame {
  std::string function;  // "fn square", "op my::relu", "mode count", or "" for the script's statements
  Location place;
};

// Why a run ended early.
enum class ScriptErrorCause : uint8_t {
  Failure,    // the script, or an operator that it called
  Interrupt,  // interruptScripts()
  Limit,      // of RunLimits, or memory
};

// Thrown by a script that fails at run time. what() is the message, then the script's calls, innermost last:
//
//     division by zero
//       fib.ops:12:7
//         print(f(0))
//               ^~~~
//       fib.ops:3:12 in fn f
//         return 1 // n
//                ^~~~~~
class BOXCAR_API ScriptError : public RuntimeError {
 public:
  ScriptError(std::string message, std::vector<ScriptFrame> frames, ScriptErrorCause cause = ScriptErrorCause::Failure);

  // The message without the calls.
  const std::string& reason() const noexcept { return details_->reason; }
  const std::vector<ScriptFrame>& frames() const noexcept { return details_->frames; }
  ScriptErrorCause cause() const noexcept { return details_->cause; }

 private:
  struct Details {
    std::string reason;
    std::vector<ScriptFrame> frames;
    ScriptErrorCause cause;
  };
  std::shared_ptr<const Details> details_;  // copying an exception must not throw
};

// Returns the text for people to read, ending in a newline: "error: " and what().
BOXCAR_API std::string toString(const ScriptError& error, TextColours colours = TextColours::None);

}  // namespace boxcar
