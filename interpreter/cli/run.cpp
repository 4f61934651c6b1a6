#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/gradient_picture.h>
#include <boxcar/interpreter/cli/output_option.h>
#include <boxcar/interpreter/cli/run_script.h>

#include <memory>

namespace boxcar::cli {
namespace {

void runAndDraw(const RunOptions& options, const std::string& picture) {
  if (picture.empty()) return runScript(options);
  GradientPicture drawn(picture);
  runScript(options, nullptr, [&](bool) { drawn.write(); });
}

}  // namespace

void addRun(CLI::App& app, const std::vector<std::string>& rest, int& status) {
  CLI::App* command = app.add_subcommand("run", "Run a script");
  const auto options = std::make_shared<RunOptions>();
  const auto picture = std::make_shared<std::string>();
  addRunOptions(*command, options);
  addOutputOption(*command, "--grad-graph", *picture,
                  "Draw what the first backward pass differentiates; an .svg file needs Graphviz's dot, a .dot file is "
                  "in its language")
      ->type_name("OUT")
      ->check(CLI::Validator(faultOfPicture, ""));
  addExamples(*command, {"boxcar run tool.ops", "boxcar run tool.ops -- --fast in.txt",
                         "boxcar run --sandbox --max-memory 2G --check-nan tool.ops",
                         "boxcar run --grad-graph loss.svg train.ops", "echo 'print(argv)' | boxcar run - hello"});
  command->callback([command, options, picture, rest, &status] {
    readRunOptions(*command, rest, *options, {{"--grad-graph", *picture}});
    runAndDraw(*options, *picture);
    status = kDone;
  });
}

}  // namespace boxcar::cli
