#include "tests/hostile/supervisor.h"

#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <thread>

namespace boxcar::hostile {
namespace {

constexpr int kPollMilliseconds = 10;
// A call that waits is a finding after this many times the limit.
constexpr double kWaits = 20;
// This many findings of one kind are enough for one operator.
constexpr uint64_t kMostOutlasting = 3;
constexpr uint64_t kMostOfAKind = 100;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

// Returns zeroed memory that processes share.
template <class T>
T* shared(size_t count) {
  void* const memory = ::mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  BOXCAR_CHECK(memory != MAP_FAILED, "no memory for what processes share");
  return static_cast<T*>(memory);
}

void limitResources() {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit file{16 << 20, 16 << 20};
  ::setrlimit(RLIMIT_FSIZE, &file);
  const rlimit core{0, 0};
  ::setrlimit(RLIMIT_CORE, &core);
  // A sanitizer needs unlimited address space.
  if (kIsSanitized) return;
  unsigned long long pages = 0;
  if (std::FILE* const file_of_sizes = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file_of_sizes, "%llu", &pages) != 1) pages = 0;
    std::fclose(file_of_sizes);
  }
  if (pages == 0) return;
  const rlim_t most = pages * 4096 + (rlim_t{2} << 30);
  const rlimit addresses{most, most};
  ::setrlimit(RLIMIT_AS, &addresses);
}

// A process that makes calls.
class Worker final {
 public:
  Worker(const Plan& plan, const Options& options, int pipe)
      : plan_(plan),
        options_(options),
        pipe_(pipe),
        state_(shared<WorkerState>(1)),
        output_(::memfd_create("output", MFD_CLOEXEC)) {
    BOXCAR_CHECK(output_ >= 0, "no file for the output of a worker");
    start();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(output_);
    ::munmap(state_, sizeof(WorkerState));
  }

  // Checks on the process. Returns true and fills [report] if it ended with a fault or had to be killed.
  bool look(Report& report) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = 0;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return false;
      report = reportOf(status);
      return true;
    }
    const int64_t begun = state_->begun;
    if (begun == 0) return false;
    if (begun != seen_) {
      seen_ = begun;
      used_before_ = processorTime();
    }
    const double taken = static_cast<double>(nowInNanoseconds() - begun) * 1e-9;
    // Only processor time counts, since a busy machine makes calls wait, unless the call itself waits for ever.
    if (processorTime() - used_before_ > options_.limit || taken > kWaits * options_.limit) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
      pid_ = 0;
      report = Report{state_->call, Fault::Outlasts, {}};
      fmt::format("goes on for {} s of processor time, and after it was asked to end", options_.limit)
          .copy(report.text, sizeof(report.text) - 1);
      return true;
    }
    if (taken > options_.patience) state_->asked_call = state_->call.load();
    return false;
  }

  bool hasEnded() const noexcept { return pid_ == 0; }

  void start() {
    if (::ftruncate(output_, 0) != 0) return;
    state_->begun = 0;
    state_->asked_call = ~uint64_t{0};
    state_->fault[0] = '\0';
    std::fflush(nullptr);
    pid_ = ::fork();
    BOXCAR_CHECK(pid_ >= 0, "no process can be started");
    if (pid_ != 0) return;
    ::dup2(output_, STDOUT_FILENO);
    ::dup2(output_, STDERR_FILENO);
    ::lseek(output_, 0, SEEK_SET);
    limitResources();
    // The child ends with _exit(), so that no destructor of the supervisor runs here.
    try {
      const std::vector<std::string> folders{options_.folder};
      const FileAccessGuard files(FileAccess::sandboxed(options_.folder, {.readable = folders, .writable = folders}));
      work(plan_, *state_, pipe_);
    } catch (const std::exception& error) {
      fmt::print(stderr, "the driver itself fails: {}\n", error.what());
      std::fflush(stderr);
      ::_exit(3);
    }
    ::_exit(0);
  }

 private:
  // Returns the seconds of processor time that the process has used.
  double processorTime() const {
    clockid_t clock{};
    timespec time{};
    if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }

  Report reportOf(int status) const {
    Report report{state_->call, Fault::Crash, {}};
    char output[700] = {};
    ssize_t length = ::pread(output_, output, sizeof(output) - 1, 0);
    if (length < 0) length = 0;
    output[length] = '\0';
    if (WIFSIGNALED(status)) {
      fmt::format("{} {} {}", ::strsignal(WTERMSIG(status)), state_->fault, output)
          .copy(report.text, sizeof(report.text) - 1);
    } else {
      report.fault = Fault::Sanitizer;
      fmt::format("exit status {}: {}", WEXITSTATUS(status), output).copy(report.text, sizeof(report.text) - 1);
    }
    return report;
  }

  const Plan& plan_;
  const Options& options_;
  int pipe_;
  WorkerState* state_;
  int output_;
  pid_t pid_ = 0;
  int64_t seen_ = 0;        // start of the call that runs
  double used_before_ = 0;  // processor time when the call was seen first
};

class Pipe final {
 public:
  Pipe() {
    BOXCAR_CHECK(::pipe2(ends_, O_CLOEXEC) == 0, "no pipe can be made");
    ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  int in() const noexcept { return ends_[1]; }
  // Reads the next report; returns false if there is none.
  bool read(Report& report) const { return ::read(ends_[0], &report, sizeof(report)) == sizeof(report); }
  void wait() const {
    pollfd poll{ends_[0], POLLIN, 0};
    ::poll(&poll, 1, kPollMilliseconds);
  }

 private:
  int ends_[2];
};

}  // namespace

Findings supervise(const std::vector<Subject>& subjects, const Options& options) {
  Findings findings;
  Calls& calls = *shared<Calls>(1);
  const Plan plan{subjects, options.seed, calls, shared<std::atomic<uint8_t>>(subjects.size())};
  const Pipe pipe;
  const auto note = [&](const Report& report) {
    const Subject& subject = plan.subjectOf(report.call);
    const uint64_t count = findings.add(subject.name, plan.seedOf(report.call), report, calls.done);
    if (count >= (report.fault == Fault::Outlasts ? kMostOutlasting : kMostOfAKind))
      plan.retired[report.call % subjects.size()] = 1;
  };
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < options.jobs; ++i) workers.push_back(std::make_unique<Worker>(plan, options, pipe.in()));
  const int64_t end = nowInNanoseconds() + static_cast<int64_t>(options.seconds * 1e9);
  bool are_all_done = false;
  while (!are_all_done) {
    pipe.wait();
    Report report;
    while (pipe.read(report)) note(report);
    if (nowInNanoseconds() > end || (options.calls != 0 && calls.next >= options.calls)) calls.is_over = true;
    are_all_done = true;
    for (const auto& worker : workers) {
      if (worker->hasEnded()) continue;
      if (worker->look(report)) note(report);
      if (worker->hasEnded() && !calls.is_over) worker->start();
      are_all_done = are_all_done && worker->hasEnded();
    }
  }
  Report report;
  while (pipe.read(report)) note(report);
  findings.calls = calls.done;
  return findings;
}

}  // namespace boxcar::hostile
