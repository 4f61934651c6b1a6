#include <boxcar/dispatcher/fallbacks/profiler.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/number_range.h>
#include <boxcar/interpreter/cli/output_option.h>
#include <boxcar/interpreter/cli/run_script.h>

#include <map>
#include <memory>
#include <string>

namespace boxcar::cli {
namespace {

const std::map<std::string, ProfileSort> kSorts = {{"self", ProfileSort::Self},       {"total", ProfileSort::Total},
                                                   {"average", ProfileSort::Average}, {"memory", ProfileSort::Memory},
                                                   {"calls", ProfileSort::Calls},     {"name", ProfileSort::Name},
                                                   {"device", ProfileSort::Device}};

}  // namespace

void addProfile(CLI::App& app, const std::vector<std::string>& rest, int& status) {
  CLI::App* command = app.add_subcommand("profile", "Run a script and tell where its time goes");
  const auto options = std::make_shared<RunOptions>();
  const auto profile = std::make_shared<ProfilerOptions>();
  addRunOptions(*command, options);
  addOutputOption(*command, "-o,--output", profile->trace, "Write a trace for Perfetto or chrome://tracing")
      ->type_name("FILE");
  addOutputOption(*command, "--html", profile->page, "Write a page for a browser: flame chart, time line, table")
      ->type_name("FILE");
  const auto sort = std::make_shared<std::string>("self");
  command->add_option("--sort", *sort, "The column by which the table is sorted (self)")
      ->type_name("COLUMN")
      ->check(CLI::IsMember(kSorts));
  command->add_option("--limit", profile->table.limit, "How many rows the table has at most (all)")
      ->type_name("N")
      ->check(numbersFrom(size_t{1}, size_t{1} << 62));
  command->add_flag("--by-shape", profile->table.by_shape, "A row for each operator and shapes of its tensors");

  addExamples(*command, {"boxcar profile model.ops --limit 10", "boxcar profile model.ops --html profile.html",
                         "boxcar profile model.ops --sort memory --by-shape"});
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
