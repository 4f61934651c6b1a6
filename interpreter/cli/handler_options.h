#pragma once

#include <boxcar/dispatcher/handlers/handler.h>
#include <boxcar/interpreter/cli/run_script.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string_view>
#include <vector>

namespace boxcar::cli {

// Adds an option for each kind of handler: `--check-nan`, or `--deny VALUE` for a kind with arguments. VALUE is the
// first argument, followed by the others by name: `--inject 'aten::mm,n=3'`.
void addHandlerOptions(CLI::App& command);

// Returns the handlers that the command line asks for, in its order. Throws CLI::ValidationError if a value does not
// fit.
std::vector<RunOptions::Request> readHandlerOptions(const CLI::App& command);

// Returns a handler made from what would follow its option, such as `out.json`. Throws Error if that does not fit.
std::unique_ptr<Handler> makeHandler(const HandlerKind& kind, std::string_view text);

// Returns the files that the handlers write: their `path` arguments.
std::vector<OutputName> handlerOutputs(const std::vector<RunOptions::Request>& requests);

// Throws CLI::ValidationError if a pattern matches none of the operators that exist by now.
void checkPatterns(const std::vector<RunOptions::Request>& requests);

// Throws CLI::ValidationError if a kind refuses its values, and what make() throws if a file cannot be written.
std::vector<std::unique_ptr<Handler>> makeHandlers(const std::vector<RunOptions::Request>& requests);

}  // namespace boxcar::cli
