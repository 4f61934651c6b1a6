#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/run_script.h>

#include <memory>

namespace boxcar::cli {

void addRun(CLI::App& app, const std::vector<std::string>& rest, int& status) {
  CLI::App* command = app.add_subcommand("run", "Run a script");
  const auto options = std::make_shared<RunOptions>();
  addRunOptions(*command, options);
  command->callback([command, options, rest, &status] {
    readRunOptions(*command, rest, *options);
    runScript(*options);
    status = kDone;
  });
}

}  // namespace boxcar::cli
