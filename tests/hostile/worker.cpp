#include "tests/hostile/worker.h"

#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/stop_request.h>
#include <boxcar/ivalue/stopped_error.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>

#include "tests/hostile/call_checks.h"
#include "tests/hostile/call_maker.h"
#include "tests/hostile/guarded_memory.h"
#include "tests/hostile/random.h"

namespace boxcar::hostile {
namespace {

WorkerState* told = nullptr;

void tellFault(int signal, siginfo_t* info, void*) {
  if (told != nullptr && (signal == SIGSEGV || signal == SIGBUS)) {
    describeAddress(info->si_addr, told->fault, sizeof(told->fault));
    if (told->fault[0] == '\0') std::snprintf(told->fault, sizeof(told->fault), "at %p", info->si_addr);
  }
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

// Stops the running call when the supervisor asks for it.
class AskedToEnd final : public StopRequest {
 public:
  explicit AskedToEnd(const WorkerState& state) : state_(state) {}
  void checkStop() const override {
    if (state_.asked_call == state_.call) throw StoppedError("the call is asked to end");
  }

 private:
  const WorkerState& state_;
};

// Returns what was printed since the last call.
std::string printed() {
  std::fflush(nullptr);
  struct stat status {};
  if (::fstat(STDOUT_FILENO, &status) != 0 || status.st_size == 0) return {};
  std::string text(std::min<size_t>(static_cast<size_t>(status.st_size), 300), '\0');
  const ssize_t read = ::pread(STDOUT_FILENO, text.data(), text.size(), 0);
  text.resize(read > 0 ? static_cast<size_t>(read) : 0);
  if (::ftruncate(STDOUT_FILENO, 0) != 0 || ::lseek(STDOUT_FILENO, 0, SEEK_SET) != 0) return "cannot be emptied";
  return text;
}

std::string stateThatIsLeft() {
  if (modeCount() != 0 || modeCount(DispatchKey::Python) != 0) return "a mode is left";
  return {};
}

Outcome runCallOnce(const Subject& subject, uint64_t seed, const WorkerState* state, uint64_t call) {
  Outcome outcome;
  Stack stack = makeArguments(subject, seed);
  CallChecks checks(subject, stack);
  std::optional<std::string> wrong;
  try {
    subject.op.callBoxed(stack);
    outcome.is_done = true;
  } catch (const Error& error) {
    outcome.message = error.message();
  } catch (const std::exception& error) {
    return {false, {}, Fault::ForeignException, fmt::format("throws what is no Error: {}", error.what())};
  } catch (...) {
    return {false, {}, Fault::ForeignException, "throws what is no exception"};
  }
  if (outcome.is_done) {
    wrong = checks.afterResults(last(stack, stack.size()));
  } else if (state == nullptr || state->asked_call != call) {
    wrong = checks.afterRefusal(outcome.message);
  }
  if (!wrong) {
    if (std::string left = stateThatIsLeft(); !left.empty()) wrong = std::move(left);
  }
  outcome.fault = wrong && wrong->starts_with("is refused") ? Fault::Wording : Fault::Promise;
  outcome.wrong = wrong.value_or("");
  return outcome;
}

}  // namespace

const char* toString(Fault fault) {
  constexpr std::array kNames = {"crash",   "sanitizer",        "outlasts", "prints", "foreign exception",
                                 "wording", "breaks a promise", "leaks"};
  return kNames[static_cast<size_t>(fault)];
}

uint64_t Plan::seedOf(uint64_t call) const { return Random(seed * 0x2545f4914f6cdd1d + call).next(); }

int64_t nowInNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void handleSignals(WorkerState& state) {
  told = &state;
  static std::array<std::byte, 65536> stack_of_handlers;
  stack_t stack{};
  stack.ss_sp = stack_of_handlers.data();
  stack.ss_size = stack_of_handlers.size();
  ::sigaltstack(&stack, nullptr);
  [[maybe_unused]] struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  action.sa_sigaction = tellFault;
#if !defined(__SANITIZE_ADDRESS__)  // AddressSanitizer reports faults itself
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) ::sigaction(signal, &action, nullptr);
#endif
}

Outcome runCall(const Subject& subject, uint64_t seed, const WorkerState* state, uint64_t call) {
  GeneratorImpl& generator = *defaultCpuGenerator().unsafeGetGeneratorImpl();
  generator.set_current_seed(seed);
  const LocalDispatchKeySet keys = tls_local_dispatch_key_set();
  const long before = livePieces();
  Outcome outcome = runCallOnce(subject, seed, state, call);
  if (!outcome.wrong.empty()) return outcome;
  const LocalDispatchKeySet after = tls_local_dispatch_key_set();
  if (keys.included_ != after.included_ || keys.excluded_ != after.excluded_) {
    outcome.fault = Fault::Promise;
    outcome.wrong = "leaves other dispatch keys";
  }
  // Memory that is kept only once may belong to a cache.
  if (livePieces() == before) return outcome;
  constexpr int kRepetitions = 3;
  int grown = 0;
  for (int i = 0; i < kRepetitions; ++i) {
    const long now = livePieces();
    runCallOnce(subject, seed, state, call);
    grown += livePieces() > now ? 1 : 0;
  }
  if (grown == kRepetitions) {
    outcome.fault = Fault::Leaks;
    outcome.wrong = "leaves memory that nobody frees, each time";
  }
  return outcome;
}

void work(const Plan& plan, WorkerState& state, int pipe) {
  handleSignals(state);
  const AskedToEnd asked(state);
  const StopGuard stops(asked);
  while (!plan.calls.is_over) {
    const uint64_t call = plan.calls.next++;
    if (plan.retired[call % plan.subjects.size()] != 0) continue;
    const Subject& subject = plan.subjectOf(call);
    state.call = call;
    state.begun = nowInNanoseconds();
    Outcome outcome = runCall(subject, plan.seedOf(call), &state, call);
    state.begun = 0;
    if (const std::string text = printed(); !text.empty() && outcome.wrong.empty()) {
      outcome.fault = Fault::Prints;
      outcome.wrong = "prints " + text;
    }
    ++plan.calls.done;
    if (outcome.wrong.empty()) continue;
    Report report{call, outcome.fault, {}};
    outcome.wrong.copy(report.text, sizeof(report.text) - 1);
    if (::write(pipe, &report, sizeof(report)) != sizeof(report)) return;
  }
}

}  // namespace boxcar::hostile
