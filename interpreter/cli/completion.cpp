#include <boxcar/interpreter/cli/choices.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/completion.h>
#include <boxcar/interpreter/cli/manual_page.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace boxcar::cli {

void addCompletion(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("completion", "Print the completion script of a shell");
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "The shell")->required()->type_name("")->check(oneOf({"bash", "zsh"}));
  addExamples(*command, {"source <(boxcar completion bash)",
                         "boxcar completion zsh > ~/.zfunc/_boxcar   # a folder that fpath names"});
  command->callback([&app, shell, &status] {
    print(*shell == "bash" ? bashCompletion(app) : zshCompletion(app));
    status = kDone;
  });
}

void addManualPage(CLI::App& app, int& status) {
  // Installations ship its output as boxcar.1; nobody types this command.
  CLI::App* command = app.add_subcommand("manual-page", "Print boxcar(1)")->group("");
  command->callback([&app, &status] {
    print(manualPage(app));
    status = kDone;
  });
}

}  // namespace boxcar::cli
