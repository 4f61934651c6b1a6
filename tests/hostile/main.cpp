// Calls operators with hostile arguments. README.md describes the arguments and what must hold for a call.

#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "tests/hostile/call_maker.h"
#include "tests/hostile/faulty_operators.h"
#include "tests/hostile/guarded_memory.h"
#include "tests/hostile/supervisor.h"

namespace boxcar::hostile {
namespace {

// A folder for files that operators read and write, including those of the plausible arguments. Removed with this
// object.
class Folder final {
 public:
  Folder() : path_((std::filesystem::canonical(std::filesystem::temp_directory_path()) / "boxcar_XXXXXX").string()) {
    BOXCAR_CHECK(::mkdtemp(path_.data()) != nullptr, "no folder can be made in '{}'", path_);
    ::setenv("TMPDIR", path_.c_str(), 1);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

// Makes the call in this process, so that a debugger can attach.
int replay(const Subject& subject, uint64_t seed) {
  fmt::print("{}\n{}", toString(subject.op.schema()), describeArguments(subject, makeArguments(subject, seed)));
  std::fflush(stdout);
  const Outcome outcome = runCall(subject, seed, nullptr, 0);
  fmt::print("  {}\n", outcome.is_done ? "is done" : "is refused: " + outcome.message);
  if (!outcome.wrong.empty()) fmt::print("  {}: {}\n", toString(outcome.fault), outcome.wrong);
  return outcome.wrong.empty() ? 0 : 1;
}

int run(int argc, char** argv) {
  CLI::App app("Calls operators with hostile arguments, in processes that may crash");
  Options options;
  MemoryLimits memory;
  std::vector<std::string> patterns;
  std::vector<std::string> replayed;
  bool lists = false;
  bool tests_itself = false;
  options.jobs = static_cast<int>(std::thread::hardware_concurrency());
  app.add_option("--seconds", options.seconds, "For how long");
  app.add_option("--calls", options.calls, "How many calls at most");
  app.add_option("--seed", options.seed, "What calls are made; those of one seed are always the same");
  app.add_option("--jobs", options.jobs, "How many processes");
  app.add_option("--patience", options.patience, "After how many seconds a call is asked to end");
  app.add_option("--limit", options.limit, "After how many seconds of processor time a call that goes on is a finding");
  app.add_option("--only", patterns, "Operators: aten::add.Tensor, add, 'aten::*_'")->expected(1, -1);
  app.add_option("--replay", replayed, "One call again: the operator's name and the seed that a finding names")
      ->expected(2);
  app.add_flag("--list", lists, "The operators, and how many plausible sets of arguments each has");
  app.add_flag("--self-test", tests_itself, "Whether the faults of operators that were made to have them are found");
  CLI11_PARSE(app, argc, argv);
  if (tests_itself) patterns = {kFaultyOperators};
  if (!replayed.empty()) patterns = {replayed[0]};

  const Folder folder;
  options.folder = folder.path();
  // Workers are forked from this process, so it must have one thread.
  cpu::setThreadCount(1);
  std::vector<Subject> subjects = findSubjects(patterns);
  BOXCAR_CHECK(!subjects.empty(), "no operator is called so");
  findPlausibleArguments(subjects);
  if (lists) {
    for (const Subject& subject : subjects) fmt::print("{} {}\n", subject.name, subject.plausible.size());
    return 0;
  }
  startGuarding(memory);
  if (!replayed.empty()) return replay(subjects.front(), std::strtoull(replayed[1].c_str(), nullptr, 10));

  const int64_t begin = nowInNanoseconds();
  const Findings findings = supervise(subjects, options);
  const double seconds = static_cast<double>(nowInNanoseconds() - begin) * 1e-9;
  if (tests_itself) {
    const std::vector<std::string> missed = missedFaults(findings);
    for (const std::string& what : missed) fmt::print("{}\n", what);
    fmt::print("{} calls: {} faults are missed\n", findings.calls, missed.size());
    return missed.empty() ? 0 : 1;
  }
  fmt::print("{}", findings.text(argv[0]));
  fmt::print("{} calls of {} operators in {:.0f} s, {:.0f} a second: {} findings\n", findings.calls, subjects.size(),
             seconds, static_cast<double>(findings.calls) / seconds, findings.size());
  return findings.empty() ? 0 : 1;
}

}  // namespace
}  // namespace boxcar::hostile

int main(int argc, char** argv) {
  try {
    return boxcar::hostile::run(argc, argv);
  } catch (const boxcar::Error& error) {
    fmt::print(stderr, "hostile: {}\n", error.message());
    return 2;
  }
}
