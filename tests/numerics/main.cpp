// Compares the results of operators with PyTorch's.
//   numerics_tests                                     the kept sample, as GoogleTest tests, one per operator
//   numerics_tests --files FOLDER [--only PATTERN]…    whole files, in several processes; --help shows the rest

#include <boxcar/ivalue/error.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <map>
#include <thread>

#include "tests/numerics/name_lists.h"
#include "tests/numerics/operator_page.h"
#include "tests/numerics/runner.h"

namespace boxcar::numerics {
namespace {

class OperatorTest final : public ::testing::Test {
 public:
  explicit OperatorTest(const OperatorCases& cases) : cases_(cases) {}

  void TestBody() override {
    for (const Case* one : cases_.cases) {
      const std::string failures = failuresOf(*one, {std::begin(kAllWays), std::end(kAllWays)});
      EXPECT_TRUE(failures.empty()) << failures;
    }
  }

 private:
  const OperatorCases& cases_;
};

// Tests have names like Family.aten__add_Tensor.
void registerTests(const std::vector<std::unique_ptr<CaseFile>>& files) {
  static std::map<std::string, std::vector<OperatorCases>> by_family;
  for (OperatorCases& cases : casesByOperator(files)) {
    by_family[cases.cases.front()->family()].push_back(std::move(cases));
  }
  for (const auto& [family, operators] : by_family) {
    for (const OperatorCases& cases : operators) {
      std::string name = cases.op;
      for (char& c : name) c = c == ':' || c == '.' ? '_' : c;
      ::testing::RegisterTest(family.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                              [&cases]() -> ::testing::Test* { return new OperatorTest(cases); });
    }
  }
}

// The exit status that ctest reports as a skipped test.
constexpr int kSkipped = 77;

// Checks in another process, because a process that has begun to use CUDA cannot be forked.
bool isDeviceThere() {
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    try {
      openCaseDevice();
    } catch (const Error& error) {
      fmt::print("skipped: {}\n", error.what());
      std::fflush(nullptr);
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  return pid > 0 && ::waitpid(pid, &status, 0) == pid && status == 0;
}

int runWhole(int argc, char** argv) {
  CLI::App app("Compares what operators answer with what PyTorch answers.");
  std::string folder = BOXCAR_NUMERICS_DATA;
  RunOptions options;
  options.jobs = static_cast<int>(std::thread::hardware_concurrency());
  std::vector<std::string> families;
  std::vector<std::string> ways;
  bool page = false;
  std::string device = "cpu";
  app.add_option("--device", device, "where calls are made: cpu, cuda:0")->capture_default_str();
  app.add_option("--files", folder, "the folder of the files of cases")->capture_default_str();
  app.add_option("--families", families, "only these files")->delimiter(',');
  app.add_option("--only", options.patterns, "only these operators: aten::add.Tensor, add, 'aten::*_'");
  app.add_option("--ways", ways,
                 "only these of: boxed typed script schema meta fake gradients batches functionalize bits")
      ->delimiter(',');
  app.add_option("--jobs", options.jobs, "processes at a time")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--max-failures", options.max_failures, "failures shown of each operator")->capture_default_str();
  app.add_flag("--skip-missing", options.skip_missing, "leave out operators without a kernel");
  app.add_option("--except", options.except,
                 "leave out these operators, in addition to device_reasons.txt on a device");
  app.add_option("--at-least", options.at_least, "so many cases must pass");
  app.add_flag("--page", page, "print the page of operators (backends/operators.md) instead");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  setCaseDevice(Device(device));
  if (caseDevice().is_cuda() && !isDeviceThere()) return kSkipped;
  // The sources may lie elsewhere than where this program was built.
  if (std::filesystem::exists(folder + "/../device_reasons.txt")) setListFolder(folder + "/..");
  if (!caseDevice().is_cpu()) {
    for (const std::string& name : namesIn("device_reasons.txt")) options.except.push_back(name);
  }
  if (!ways.empty()) {
    options.ways.clear();
    for (const std::string& name : ways) {
      const auto* way = std::ranges::find(kAllWays, name, [](Way w) { return std::string(toString(w)); });
      BOXCAR_CHECK(way != std::end(kAllWays),
                   "there is no way '{}'; there are boxed, typed, script, schema, meta, fake, gradients, batches, "
                   "functionalize, bits",
                   name);
      options.ways.push_back(*way);
    }
  }
  const auto files = readCaseFiles(folder, families);
  if (page) {
    std::fputs(operatorPage(files).c_str(), stdout);
    return 0;
  }
  options.has_all_cases = folder != BOXCAR_NUMERICS_DATA;
  BOXCAR_CHECK(!files.empty(), "'{}' has no files of cases", folder);
  return run(files, options) ? 0 : 1;
}

}  // namespace
}  // namespace boxcar::numerics

int main(int argc, char** argv) {
  using namespace boxcar::numerics;
  bool whole = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    whole = whole || (argument.starts_with("--") && !argument.starts_with("--gtest_"));
  }
  try {
    if (whole) return runWhole(argc, argv);
    const auto files = readCaseFiles(BOXCAR_NUMERICS_DATA);
    ::testing::InitGoogleTest(&argc, argv);
    registerTests(files);
    return RUN_ALL_TESTS();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "numerics_tests: error: %s\n", error.what());
    return 2;
  }
}
