#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/lsp_message.h>
#include <boxcar/interpreter/cli/lsp_server.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

namespace boxcar::cli {

void addLsp(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("lsp", "Answer an editor: a language server on standard input and output");
  command->add_flag_callback(
      "--stdio", [] {}, "As without it; editors say so");
  addExamples(*command, {"boxcar lsp"});
  command->callback([&status] {
    MessageStream stream(STDIN_FILENO, STDOUT_FILENO);
    status = LspServer(stream).run();
  });
}

}  // namespace boxcar::cli
