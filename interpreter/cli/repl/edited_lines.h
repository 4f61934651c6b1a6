#pragma once

#include <boxcar/interpreter/cli/repl/line_editor.h>

#include <csignal>
#include <memory>
#include <string>

namespace boxcar::cli {

// Lines that libedit edits, with former inputs kept in [history], a file, unless it is empty. Null where the machine
// has no libedit. [presses] counts Ctrl-C: one that comes while a line is written drops it.
std::unique_ptr<LineEditor> makeEditedLines(const std::string& history, volatile std::sig_atomic_t& presses);

}  // namespace boxcar::cli
