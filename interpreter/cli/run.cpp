#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/run_script.h>

#include <memory>

namespace boxcar::cli {

void addRun(CLI::App& app, const std::vector<std::string>& rest, int& status) {
  CLI::App* command = app.add_subcommand("run", "Run a script");
  const auto options = std::make_shared<RunOptions>();
  addRunOptions(*command, options);
  addExamples(*command,
              {"boxcar run tool.ops", "boxcar run tool.ops -- --fast in.txt",
               "boxcar run --sandbox --max-memory 2G --check-nan tool.ops", "echo 'print(argv)' | boxcar run - hello"});
  command->callback([command, options, rest, &status] {
    readRunOptions(*command, rest, *options);
    runScript(*options);
    status = kDone;
  });
}

}  // namespace boxcar::cli
