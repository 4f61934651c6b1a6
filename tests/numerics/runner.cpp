#include "tests/numerics/runner.h"

#include <boxcar/dispatcher/registry/name_pattern.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string_view>

namespace boxcar::numerics {
namespace {

// Results that the processes exchange in shared memory.
struct Tally {
  std::atomic<size_t> failed;    // cases
  std::atomic<size_t> left_out;  // cases that met an operator without a kernel
  std::atomic<size_t> position;  // of the running case, from 1
  std::atomic<bool> has_no_kernel;
  // Cases by GradientOutcome::Kind, and those with second derivatives.
  std::atomic<size_t> gradients[5];
  std::atomic<size_t> seconds;
  // Operators that lack a formula, each with a space after it.
  char without_formula[400];
};
constexpr int kMostJobs = 256;
constexpr int kLostDevice = 3;  // the exit status of a process whose device fails every call after a fault
constexpr size_t kNothing = std::numeric_limits<size_t>::max();
struct Shared {
  std::atomic<size_t> next;              // the first operator that no process has taken
  std::atomic<size_t> taken[kMostJobs];  // the current operator of each process
  Tally tallies[];                       // by operator
};

class SharedMemory final {
 public:
  explicit SharedMemory(size_t operators) : bytes_(sizeof(Shared) + operators * sizeof(Tally)) {
    void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    BOXCAR_CHECK(memory != MAP_FAILED, "no memory for {} operators", operators);
    shared_ = static_cast<Shared*>(memory);  // zeros
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { ::munmap(shared_, bytes_); }
  Shared* operator->() const noexcept { return shared_; }

 private:
  size_t bytes_;
  Shared* shared_;
};

void print(const std::string& text) {
  // Write each text with one call, so that lines of several processes do not mix.
  std::span<const char> rest(text);
  while (!rest.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (written <= 0) return;
    rest = rest.subspan(static_cast<size_t>(written));
  }
}

// Returns whether the failure says that an operator has kernels, but none for the device of the cases.
bool meetsMissingKernel(const std::string& failures) {
  const std::string text = fmt::format("for dispatch key {}, which", toString(toDispatchKey(caseDevice().type())));
  // Or a kernel reports that it lacks an implementation for this device.
  return failures.find(text) != std::string::npos ||
         failures.find("; move the tensors to 'cpu'\n") != std::string::npos;
}

void runOperator(const OperatorCases& cases, Tally& tally, const RunOptions& options) {
  if (!hasKernel(cases.op)) {
    tally.has_no_kernel = true;
    if (options.skip_missing) return;
  }
  for (size_t i = tally.position; i < cases.cases.size(); ++i) {
    tally.position = i + 1;
    GradientOutcome gradients;
    const std::string failures = failuresOf(*cases.cases[i], options.ways, &gradients);
    ++tally.gradients[static_cast<size_t>(gradients.kind)];
    if (gradients.has_second) ++tally.seconds;
    if (!gradients.without_formula.empty()) {
      const std::string_view known(tally.without_formula);
      if (const std::string name = gradients.without_formula + " "; known.find(name) == std::string_view::npos) {
        fmt::format_to_n(tally.without_formula + known.size(), sizeof(tally.without_formula) - 1 - known.size(), "{}",
                         name);
      }
    }
    if (failures.empty()) continue;
    if (options.skip_missing && meetsMissingKernel(failures)) {
      ++tally.left_out;
      continue;
    }
    if (static_cast<int>(++tally.failed) <= options.max_failures) print(failures);
    if (failures.find("CUDA fails all later calls") != std::string::npos) ::_exit(kLostDevice);
  }
  tally.position = 0;
}

// The work of process [job]: first the operator at which the process before it crashed, then operators that nobody has
// taken.
void work(const std::vector<OperatorCases>& operators, const SharedMemory& shared, int job, const RunOptions& options) {
  openCaseDevice();
  size_t i = shared->taken[job];
  if (i == kNothing || shared->tallies[i].position == 0) i = shared->next++;
  for (; i < operators.size(); i = shared->next++) {
    shared->taken[job] = i;
    runOperator(operators[i], shared->tallies[i], options);
  }
}

void reportCrash(const OperatorCases& cases, Tally& tally, int status) {
  const Case& crashed = *cases.cases[tally.position - 1];
  ++tally.failed;
  print(fmt::format("CRASH {} case {} of {}: signal {} ({}) in\n  {}\n", crashed.op(), crashed.number(),
                    crashed.family(), WTERMSIG(status), ::strsignal(WTERMSIG(status)), describeCall(crashed)));
}

bool isWanted(const std::string& op, const std::vector<std::string>& patterns) {
  const size_t dot = op.find('.');
  const OperatorName name{op.substr(0, dot), dot == std::string::npos ? "" : op.substr(dot + 1)};
  return patterns.empty() || std::ranges::any_of(patterns, [&](const std::string& p) {
           return matchesPattern(name, p) || matchesPattern(name, "aten::" + p);
         });
}

// Says how many gradients were compared, and which formulas are missing.
void printGradients(const std::vector<OperatorCases>& operators, const SharedMemory& shared, bool has_all_cases) {
  using Kind = GradientOutcome::Kind;
  size_t operators_of[5] = {};
  size_t cases_of[5] = {};
  size_t seconds = 0;
  std::map<std::string, std::set<std::string>> missing;
  for (size_t i = 0; i < operators.size(); ++i) {
    const Tally& tally = shared->tallies[i];
    for (size_t kind = 0; kind < std::size(operators_of); ++kind) {
      operators_of[kind] += tally.gradients[kind] > 0;
      cases_of[kind] += tally.gradients[kind];
    }
    seconds += tally.seconds;
    std::istringstream names(tally.without_formula);
    for (std::string name; names >> name;) missing[name].insert(operators[i].op);
  }
  const auto count = [&](Kind kind) {
    const auto i = static_cast<size_t>(kind);
    return fmt::format("{} cases of {} operators", cases_of[i], operators_of[i]);
  };
  print(
      fmt::format("gradients: {} have PyTorch's, in {} cases also second derivatives; {} are not differentiable; {} "
                  "lack a formula; {} differ\n",
                  count(Kind::kEqual), seconds, count(Kind::kNotDifferentiable), count(Kind::kMissingFormula),
                  count(Kind::kDifferent)));
  for (const auto& [name, users] : missing) {
    print(
        fmt::format("  missing formula: {}{}\n", name,
                    users.size() == 1 && users.contains(name) ? "" : fmt::format(", for {}", fmt::join(users, ", "))));
  }
  for (size_t i = 0; has_all_cases && i < operators.size(); ++i) {
    const Tally& tally = shared->tallies[i];
    const bool was_compared = tally.gradients[static_cast<size_t>(Kind::kEqual)] > 0;
    if (was_compared && tally.gradients[static_cast<size_t>(Kind::kDifferent)] == 0 &&
        hasKnownDifference(operators[i].op)) {
      print(fmt::format("  no difference, so remove it from gradient_reasons.txt: {}\n", operators[i].op));
    }
  }
}

}  // namespace

std::string failuresOf(const Case& expected, const std::vector<Way>& ways, GradientOutcome* gradients) {
  std::string text;
  std::string before;
  for (const Way way : ways) {
    std::optional<std::string> failure;
    if (way == Way::kGradients && gradients != nullptr) {
      *gradients = gradientOutcome(expected);
      failure = failureOf(expected, *gradients);
    } else {
      failure = runCase(expected, way);
    }
    if (!failure) continue;
    if (text.empty()) {
      text = fmt::format("FAIL {} case {} of {} ({})\n  {}\n", expected.op(), expected.number(), expected.family(),
                         expected.dtype(), describeCall(expected));
    }
    text += *failure == before ? fmt::format("  {}: the same\n", toString(way))
                               : fmt::format("  {}: {}\n", toString(way), *failure);
    before = *failure;
  }
  return text;
}

std::vector<OperatorCases> casesByOperator(const std::vector<std::unique_ptr<CaseFile>>& files) {
  std::map<std::string, OperatorCases> by_name;
  for (const auto& file : files) {
    for (const Case& one : file->cases()) {
      OperatorCases& cases = by_name[one.op()];
      cases.op = one.op();
      cases.cases.push_back(&one);
    }
  }
  std::vector<OperatorCases> all;
  for (auto& [name, cases] : by_name) all.push_back(std::move(cases));
  return all;
}

bool run(const std::vector<std::unique_ptr<CaseFile>>& files, const RunOptions& options) {
  std::vector<OperatorCases> operators;
  for (OperatorCases& cases : casesByOperator(files)) {
    if (!isWanted(cases.op, options.patterns)) continue;
    if (!options.except.empty() && isWanted(cases.op, options.except)) continue;
    operators.push_back(std::move(cases));
  }
  const SharedMemory shared(operators.size());
  for (std::atomic<size_t>& taken : shared->taken) taken = kNothing;

  std::fflush(nullptr);
  std::map<pid_t, int> processes;
  const auto start = [&](int job) {
    const pid_t pid = ::fork();
    BOXCAR_CHECK(pid >= 0, "cannot start a process");
    if (pid == 0) {
      work(operators, shared, job, options);
      ::_exit(0);
    }
    processes.emplace(pid, job);
  };
  for (int job = 0; job < std::min(options.jobs, kMostJobs); ++job) start(job);
  while (!processes.empty()) {
    int status = 0;
    const auto process = processes.find(::wait(&status));
    if (process == processes.end()) continue;
    const int job = process->second;
    processes.erase(process);
    const size_t at = shared->taken[job];
    const bool has_crashed = WIFSIGNALED(status);
    const bool has_lost_device = WIFEXITED(status) && WEXITSTATUS(status) == kLostDevice;
    if ((!has_crashed && !has_lost_device) || at == kNothing || shared->tallies[at].position == 0) continue;
    // A new process continues after the case at which this one ended.
    if (has_crashed) reportCrash(operators[at], shared->tallies[at], status);
    start(job);
  }

  if (std::ranges::find(options.ways, Way::kGradients) != options.ways.end()) {
    printGradients(operators, shared, options.has_all_cases);
  }
  size_t failed_cases = 0;
  size_t failed_operators = 0;
  size_t left_out = 0;
  size_t missing = 0;
  size_t total = 0;
  size_t ran = 0;
  for (size_t i = 0; i < operators.size(); ++i) {
    const Tally& tally = shared->tallies[i];
    if (tally.has_no_kernel) ++missing;
    if (tally.has_no_kernel && options.skip_missing) continue;
    ++ran;
    total += operators[i].cases.size();
    left_out += tally.left_out;
    if (tally.failed == 0) continue;
    if (failed_operators++ == 0) print("\nOperators with failures:\n");
    failed_cases += tally.failed;
    print(fmt::format("  {:<48}{:>6} of {:>6} cases{}\n", operators[i].op, tally.failed.load(),
                      operators[i].cases.size(), tally.has_no_kernel ? "   (no kernel)" : ""));
  }
  const size_t passed = total - failed_cases - left_out;
  print(fmt::format("{} of {} cases pass, {} of {} operators whole, each in {} ways", passed, total,
                    ran - failed_operators, ran, options.ways.size()));
  if (left_out > 0) print(fmt::format("; {} cases are left out for operators inside that have no kernel", left_out));
  print(missing == 0 ? "\n"
                     : fmt::format("; {} operators have no kernel{}\n", missing,
                                   options.skip_missing ? " and are left out" : ""));
  if (passed < options.at_least) print(fmt::format("but {} cases must pass\n", options.at_least));
  return failed_cases == 0 && passed >= options.at_least;
}

}  // namespace boxcar::numerics
