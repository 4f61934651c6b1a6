#pragma once

#include <boxcar/interpreter/cli/repl/line_editor.h>

#include <csignal>
#include <memory>
#include <string>

namespace boxcar::cli {

// Returns lines edited with libedit; earlier inputs are kept in the file [history], unless it is empty. Returns null if
// the machine has no libedit. [presses] counts Ctrl-C: one that comes while a line is being edited drops the line.
std::unique_ptr<LineEditor> makeEditedLines(const std::string& history, volatile std::sig_atomic_t& presses);

}  // namespace boxcar::cli
