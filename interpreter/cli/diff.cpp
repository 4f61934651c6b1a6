#include <boxcar/dispatcher/handlers/record/recording_diff.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/report.h>
#include <boxcar/interpreter/cli/tolerance_options.h>
#include <boxcar/ivalue/error.h>

#include <memory>
#include <string>

namespace boxcar::cli {
namespace {

// Returns the exit status, as diff and cmp do: 1 means that the two differ, and nothing else returns 1.
int diff(const std::string& first, const std::string& second, const Tolerance& tolerance) {
  try {
    const Recording a = Recording::open(first);
    const Recording b = Recording::open(second);
    const auto difference = findDifference(a, b, tolerance);
    print(describeDifference(a, b, difference));
    return difference ? kFailed : kDone;
  } catch (const Error& error) {
    reportFailure(error.message());
    return kBadUsage;
  }
}

}  // namespace

void addDiff(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("diff", "Find the first call where two recorded runs differ");
  const auto first = std::make_shared<std::string>();
  const auto second = std::make_shared<std::string>();
  const auto tolerance = std::make_shared<Tolerance>();
  command->add_option("REC1", *first, "A recording")->required()->type_name("");
  command->add_option("REC2", *second, "Another one")->required()->type_name("");
  addToleranceOptions(*command, tolerance);
  addExamples(*command, {"boxcar diff before.rec after.rec", "boxcar diff before.rec after.rec --atol 1e-6"});
  command->callback([first, second, tolerance, &status] { status = diff(*first, *second, *tolerance); });
}

}  // namespace boxcar::cli
