#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/lsp/message.h>
#include <boxcar/interpreter/cli/lsp/server.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

namespace boxcar::cli {

void addLsp(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("lsp", "Run a language server for editors on standard input and output");
  command->add_flag_callback(
      "--stdio", [] {}, "Ignored; editors pass it");
  addExamples(*command, {"boxcar lsp"});
  command->callback([&status] {
    MessageStream stream(STDIN_FILENO, STDOUT_FILENO);
    status = LspServer(stream).run();
  });
}

}  // namespace boxcar::cli
