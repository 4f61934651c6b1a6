#pragma once

#include <boxcar/dispatcher/call/call_site.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// What handlers can ask about the script that runs on their thread. Only handlers that ask pay for it.

namespace boxcar {

// A running function of a script, and its current line.
struct CallFrame {
  std::string function;  // "attention", "my::scale"; "" for the statements of a file
  CallSite site;

  bool operator==(const CallFrame&) const = default;
};

// Returns the functions that this thread's script is in, outermost first; empty if no script runs.
BOXCAR_API std::vector<CallFrame> currentCallPath();

// Returns the key of [tensor] in a dict that the script holds, "fc1.weight" or "layers.0.weight", or the name of its
// constant that is the tensor, or holds it in a list; "" if there is none.
BOXCAR_API std::string keyInScript(const Tensor& tensor);

namespace detail {

// Implements these functions; the interpreter sets it.
struct ScriptReader {
  std::vector<CallFrame> (*path)() = nullptr;
  std::string (*key)(const Tensor& tensor) = nullptr;
  // Writes the current place of each function of the path, innermost first, at most [room] of them, and returns how
  // many. Equal addresses are the same place in the same function as long as script_code_generation has not changed.
  size_t (*places)(const void** to, size_t room) noexcept = nullptr;
};
// [reader] must stay where it is.
BOXCAR_API void setScriptReader(const ScriptReader& reader) noexcept;
// None of its functions is null.
BOXCAR_API const ScriptReader& scriptReader() noexcept;

// Whether a script has run on this thread. If not, the other functions need not be called.
extern BOXCAR_API constinit thread_local bool has_run_script __attribute__((tls_model("initial-exec")));

// Incremented when code of a script is freed.
BOXCAR_API extern constinit std::atomic<uint64_t> script_code_generation;

}  // namespace detail
}  // namespace boxcar
