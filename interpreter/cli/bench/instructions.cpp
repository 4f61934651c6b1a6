#include <boxcar/interpreter/cli/bench/instructions.h>
#include <boxcar/ivalue/error.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

// At each call of this function, callgrind writes down what it counted since the last call and starts anew. It finds
// the function by its name.
extern "C" [[gnu::noinline, gnu::used, gnu::visibility("default")]] void boxcarBenchMark() { asm volatile(""); }

namespace boxcar::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Measured under callgrind, which is about fifty times slower.
constexpr double kSecondsOfFewCalls = 0.05;
constexpr long kMostFewCalls = 200;
constexpr std::chrono::seconds kSecondsOfAll(15);

struct Counted {
  size_t part;  // the file number of the few calls; that of the many calls follows
  long few;
  long many;
};

// Makes the calls of [path] between marks; [parts] marks were made before.
Counted runCounted(const BenchPath& path, size_t& parts) {
  Counted counted{0, 0, 0};
  const auto mark = [&parts] {
    boxcarBenchMark();
    ++parts;
  };
  const auto body = [&] {
    path.run(1);
    const Clock::time_point start = Clock::now();
    path.run(1);
    const std::chrono::duration<double> seconds = Clock::now() - start;
    const double fitting = kSecondsOfFewCalls / std::max(seconds.count(), 1e-9);
    counted.few = static_cast<long>(std::clamp(fitting, 1.0, static_cast<double>(kMostFewCalls)));
    counted.many = 3 * counted.few;
    mark();
    counted.part = parts + 1;
    for (const long count : {counted.few, counted.many}) {
      path.run(count);
      mark();
    }
    if (!path.overhead) return;
    for (const long count : {counted.few, counted.many}) {
      path.overhead(count);
      mark();
    }
  };
  if (path.within) {
    path.within(body);
  } else {
    body();
  }
  return counted;
}

// Returns the instructions in callgrind's file of that number.
double readPart(const std::string& folder, size_t part) {
  std::ifstream file(fmt::format("{}/out.{}", folder, part));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("totals: ")) return std::stod(line.substr(std::strlen("totals: ")));
  }
  BOXCAR_FAIL("callgrind wrote no total into its part {}", part);
}

// Runs a program, found in PATH, with its output going to [output]. Returns its status as waitpid gives it; throws
// Error if it cannot be started.
int runProgram(std::vector<std::string> arguments, const std::string& output) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  // Otherwise waiting threads of kernels would be counted, too.
  std::string threads = "OMP_NUM_THREADS=1";
  std::vector<char*> environment{threads.data()};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("OMP_NUM_THREADS=")) environment.push_back(*entry);
  }
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t pid = 0;
  const int failure = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  BOXCAR_CHECK(failure == 0, "{} cannot be run: {}", arguments[0], std::strerror(failure));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) BOXCAR_CHECK(errno == EINTR, "waiting for {} failed", arguments[0]);
  return status;
}

}  // namespace

void runCountedPaths(std::vector<BenchGroup>& groups, const std::string& file) {
  std::ofstream lines(file);
  const Clock::time_point start = Clock::now();
  size_t parts = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    for (const BenchPath& path : groups[i].paths) {
      if (Clock::now() - start > kSecondsOfAll) return;
      try {
        const Counted counted = runCounted(path, parts);
        lines << i << ' ' << counted.part << ' ' << counted.few << ' ' << counted.many << ' ' << path.name << '\n';
      } catch (const Error&) {
        // The timed run reports the reason.
      }
    }
  }
}

InstructionCounts countInstructions(const std::vector<BenchGroup>& groups, std::vector<std::string> arguments,
                                    const std::string& folder) {
  const std::string lines_file = folder + "/parts";
  std::vector<std::string> command = {"valgrind", "--tool=callgrind", "--callgrind-out-file=" + folder + "/out",
                                      "--dump-after=boxcarBenchMark",
                                      std::filesystem::read_symlink("/proc/self/exe").string()};
  std::ranges::move(arguments, std::back_inserter(command));
  command.insert(std::ranges::find(command, "bench") + 1, "--count-into=" + lines_file);
  InstructionCounts result;
  for (const BenchGroup& group : groups) result.counts.emplace_back(group.paths.size());
  try {
    const int status = runProgram(command, folder + "/log");
    BOXCAR_CHECK(status == 0, "valgrind ended with status {}", WIFEXITED(status) ? WEXITSTATUS(status) : status);
    std::ifstream file(lines_file);
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      size_t group = 0;
      Counted counted{};
      words >> group >> counted.part >> counted.few >> counted.many >> std::ws;
      std::string name;
      std::getline(words, name);
      const auto& paths = groups[group].paths;
      const auto path = std::ranges::find(paths, name, &BenchPath::name);
      if (path == paths.end()) continue;
      const auto perCall = [&](size_t part) {
        return (readPart(folder, part + 1) - readPart(folder, part)) / static_cast<double>(counted.many - counted.few);
      };
      const double calls = perCall(counted.part) - (path->overhead ? perCall(counted.part + 2) : 0);
      result.counts[group][static_cast<size_t>(path - paths.begin())] = calls;
    }
  } catch (const Error& error) {
    result.problem = error.message();
  }
  return result;
}

}  // namespace boxcar::cli
