#pragma once

#include <boxcar/dispatcher/handlers/trace/tracer.h>
#include <boxcar/interpreter/cli/run_script.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// Commands that call a function of a file: a script, or a model.

namespace boxcar::cli {

// A call as the command line gives it.
struct FunctionCall {
  std::string file;
  std::vector<std::string> words;  // FUNCTION, if it is given, and its arguments
  std::string device = {};         // where it runs; "" for what the file says
};

// Adds FILE and the words after it.
void addFunctionCall(CLI::App& command, FunctionCall& call);
// Adds --device.
void addDeviceOfCall(CLI::App& command, FunctionCall& call);

// Returns the statements that import the file and set `arguments` to what the words say, and the function's name in
// [function]; with a device, also statements that move a model's weights there. A word is VALUE or NAME=VALUE; a VALUE
// is a file, FILE:KEY for one array of several, or an expression of the language. Throws CLI::ValidationError for words
// of another form.
struct CallText {
  struct Argument {
    std::string name;   // "" if it is given by position
    std::string value;  // "io::load_npy(…)"
  };

  std::string imports;
  std::string scopes;  // "no_grad()", in which the function is called
  std::string function;
  std::vector<Argument> values;
  std::string arguments;  // all values: "x=io::load_npy(…), 3"
};
CallText callText(const FunctionCall& call);

// Runs the file's statements and then, under no_grad(), the call, which [tracer] traces; finishes the tracer. With
// [views], what functionalize() takes, the trace is of the function without writes. Throws what runScript() throws.
void traceCall(const FunctionCall& call, const RunOptions& options, Tracer& tracer, std::string_view views = {});

// Runs a script that is no file, with the options of a run; paths in it start at the current folder.
void runText(const RunOptions& options, std::string text);

}  // namespace boxcar::cli
