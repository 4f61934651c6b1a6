#pragma once

#include <boxcar/interpreter/runtime/executable.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/stack.h>

namespace boxcar::interp {

// Calls a function that [program] exports: replaces its arguments, the last values of [stack], by the results.
// Arguments are converted as in a script (int to float, a list to float[]). Throws Error for arguments that do not fit,
// and ScriptError.
void callExported(const Executable& program, const CodeExport& exported, Stack& stack);

// Returns a function of a script as a value (FunctionObject); the same value each time. It does not keep the script
// loaded, because a constant of the script may hold it: its calls are errors once the script is gone.
IValue functionValue(const ExecutableFunction& function);

}  // namespace boxcar::interp
