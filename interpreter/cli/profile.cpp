#include <boxcar/dispatcher/handlers/profile/profiler.h>
#include <boxcar/interpreter/cli/choices.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/number_range.h>
#include <boxcar/interpreter/cli/output_option.h>
#include <boxcar/interpreter/cli/run_script.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace boxcar::cli {
namespace {

const std::map<std::string, ProfileSort> kSorts = {{"self", ProfileSort::Self},       {"total", ProfileSort::Total},
                                                   {"average", ProfileSort::Average}, {"memory", ProfileSort::Memory},
                                                   {"calls", ProfileSort::Calls},     {"name", ProfileSort::Name},
                                                   {"device", ProfileSort::Device}};

}  // namespace

void addProfile(CLI::App& app, const std::vector<std::string>& rest, int& status) {
  CLI::App* command = app.add_subcommand("profile", "Run a script and show where its time goes");
  const auto options = std::make_shared<RunOptions>();
  const auto profile = std::make_shared<ProfilerOptions>();
  addRunOptions(*command, options);
  addOutputOption(*command, "-o,--output", profile->trace, "Write a trace for Perfetto or chrome://tracing")
      ->type_name("FILE");
  addOutputOption(*command, "--html", profile->page, "Write a page for a browser: flame chart, time line and tables")
      ->type_name("FILE");
  const auto sort = std::make_shared<std::string>("self");
  command->add_option("--sort", *sort, "The column by which the table is sorted (self)")
      ->type_name("COLUMN")
      ->check(oneOf(kSorts));
  command->add_option("--limit", profile->table.limit, "The maximum number of rows of the table (all)")
      ->type_name("N")
      ->check(numbersFrom(size_t{1}, size_t{1} << 62));
  std::vector<CLI::Option*> choices;
  const auto add_rows = [&](const char* name, ProfileBy by, const char* help) {
    CLI::Option* const option = command->add_flag_callback(
        name, [profile, by] { profile->table.by = by; }, help);
    for (CLI::Option* const other : choices) option->excludes(other);
    choices.push_back(option);
  };
  add_rows("--by-shape", ProfileBy::Shape, "One row per operator and shapes of its tensors");
  add_rows("--by-line", ProfileBy::Line, "One row per line of the script, with the time of its calls");
  add_rows("--by-function", ProfileBy::Function, "One row per function of the script");

  addExamples(*command,
              {"boxcar profile model.ops --limit 10", "boxcar profile model.ops --html profile.html",
               "boxcar profile model.ops --sort memory --by-shape", "boxcar profile model.ops --by-line --limit 20"});
  command->callback([command, options, profile, sort, rest, &status] {
    readRunOptions(*command, rest, *options, {{"--output", profile->trace}, {"--html", profile->page}});
    profile->table.sort = kSorts.at(*sort);
    Profiler profiler(*profile);
    options->count = [&profiler] { return ProgressCount{profiler.callCountOfThread(), 0, "calls"}; };
    runScript(*options, &profiler);
    status = kDone;
  });
}

}  // namespace boxcar::cli
