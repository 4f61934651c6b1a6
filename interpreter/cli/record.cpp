#include <boxcar/dispatcher/handlers/record/recorder.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/output_option.h>
#include <boxcar/interpreter/cli/run_script.h>

#include <memory>
#include <string>

namespace boxcar::cli {
namespace {

struct RecordOptions {
  std::string output;
  bool shapes = false;
  bool hashes = false;
};

void record(const RunOptions& run, const RecordOptions& options) {
  Recorder recorder(options.output, recordedContent(options.shapes, options.hashes));
  runScript(run, &recorder);
}

}  // namespace

void addRecord(CLI::App& app, const std::vector<std::string>& rest, int& status) {
  CLI::App* command = app.add_subcommand("record", "Run a script and write all its operator calls to a file");
  const auto run = std::make_shared<RunOptions>();
  const auto options = std::make_shared<RecordOptions>();
  addRunOptions(*command, run);
  addOutputOption(*command, "-o,--output", options->output, "The recording")->required()->type_name("REC");
  CLI::Option* shapes = command->add_flag("--shapes", options->shapes,
                                          "Keep no elements of tensors, which is enough to measure the calls");
  command->add_flag("--hashes", options->hashes, "Keep a hash of each tensor's elements, which is enough for diff")
      ->excludes(shapes);
  addExamples(*command, {"boxcar record model.ops -o model.rec", "boxcar record model.ops --hashes -o small.rec"});
  command->callback([command, run, options, rest, &status] {
    readRunOptions(*command, rest, *run, {{"--output", options->output}});
    record(*run, *options);
    status = kDone;
  });
}

}  // namespace boxcar::cli
