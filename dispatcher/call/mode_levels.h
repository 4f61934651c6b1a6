#pragma once

#include <boxcar/ivalue/dispatch_key.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>

// A thread's modes at levels other than PreDispatch and Python, and the keys that it includes for them.

namespace boxcar::detail {

struct LevelModes;  // mode.cpp

// The guards and setters of local_dispatch_key_set.h keep apart what they include themselves: a key that a guard
// includes, too, is no longer the modes' alone, and one that it gives up stays included as long as there are modes.
// Bits as in PODLocalDispatchKeySet.
struct ModeLevels {
  uint64_t wanted = 0;  // the levels with modes
  uint64_t only = 0;    // those of them that nobody else includes; they are bits of included_bits, too
  LevelModes* first = nullptr;
};

// Null while there are none.
extern BOXCAR_API constinit thread_local ModeLevels* mode_levels __attribute__((tls_model("initial-exec")));

// The first mode at a level begins, or the last one ends. There are mode_levels.
void includeForModes(DispatchKey level) noexcept;
void excludeForModes(DispatchKey level) noexcept;

}  // namespace boxcar::detail
