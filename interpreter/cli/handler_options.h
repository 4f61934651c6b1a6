#pragma once

#include <boxcar/dispatcher/handlers/handler.h>
#include <boxcar/interpreter/cli/run_script.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string_view>
#include <vector>

namespace boxcar::cli {

// Adds an option for each kind of handler: `--check-nan`; `--deny VALUE` for one with arguments, where VALUE is its
// first argument, with the others by name behind it: `--inject 'aten::mm,n=3'`.
void addHandlerOptions(CLI::App& command);

// What the command line asked for, in its order. Throws CLI::ValidationError where a value does not fit.
std::vector<RunOptions::Request> readHandlerOptions(const CLI::App& command);

// A handler with what would stand behind its option, as in `out.json`. Throws Error where that does not fit.
std::unique_ptr<Handler> makeHandler(const HandlerKind& kind, std::string_view text);

// The files that the handlers write: what their `path` is.
std::vector<OutputName> handlerOutputs(const std::vector<RunOptions::Request>& requests);

// Throws CLI::ValidationError where a pattern matches none of the operators that there are by now.
void checkPatterns(const std::vector<RunOptions::Request>& requests);

// Throws CLI::ValidationError where a kind refuses its values, and what make() throws where a file cannot be written.
std::vector<std::unique_ptr<Handler>> makeHandlers(const std::vector<RunOptions::Request>& requests);

}  // namespace boxcar::cli
