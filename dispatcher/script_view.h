#pragma once

#include <boxcar/dispatcher/call_site.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// What handlers ask about the script that runs on their thread. It costs who asks; nobody else.

namespace boxcar {

// A function of a script that runs, and the line where it is.
struct CallFrame {
  std::string function;  // "attention", "my::scale"; "" for the statements of a file
  CallSite site;

  bool operator==(const CallFrame&) const = default;
};

// The functions that this thread's script has called, outermost first; empty where no script runs.
BOXCAR_API std::vector<CallFrame> currentCallPath();

// The key under which a dict that the script holds has [tensor]; "" where none has.
BOXCAR_API std::string keyInScript(const Tensor& tensor);

namespace detail {

// What answers; the interpreter sets it.
struct ScriptReader {
  std::vector<CallFrame> (*path)() = nullptr;
  std::string (*key)(const Tensor& tensor) = nullptr;
  // Writes where each function of the path is, innermost first, [room] at most; how many it wrote. The same address is
  // the same place in the same function as long as script_code_generation is what it was.
  size_t (*places)(const void** to, size_t room) noexcept = nullptr;
};
// [reader] stays where it is.
BOXCAR_API void setScriptReader(const ScriptReader& reader) noexcept;
// None of its functions is null.
BOXCAR_API const ScriptReader& scriptReader() noexcept;

// Whether a script has run on this thread: where none has, the others need not be asked.
extern BOXCAR_API constinit thread_local bool has_run_script __attribute__((tls_model("initial-exec")));

// Grows when code of a script is gone.
BOXCAR_API extern constinit std::atomic<uint64_t> script_code_generation;

}  // namespace detail
}  // namespace boxcar
