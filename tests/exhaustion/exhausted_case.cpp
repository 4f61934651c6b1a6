#include "tests/exhaustion/exhausted_case.h"

#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/ivalue/error.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "tests/exhaustion/failing_memory.h"

namespace boxcar::exhaustion {
namespace {

int complaints = STDERR_FILENO;

constexpr int kMostWarmUps = 20;
constexpr int kRepetitions = 3;

struct Attempt {
  std::optional<std::string> problem;
  bool was_met = false;  // a request failed
};

class Runner final {
 public:
  explicit Runner(const ExhaustedCase& exhausted) : case_(exhausted) {}

  bool run() {
    if (auto problem = warmUp()) return complain(0, *problem);
    for (const bool and_all_later : {false, true}) {
      and_all_later_ = and_all_later;
      bool was_met = true;
      for (long n = 1; was_met; ++n) {
        const Attempt one = attempt(n, true);
        if (one.problem) return complain(n, *one.problem);
        was_met = one.was_met;
        if (livePieces() != live_ && leaks(n)) return false;
      }
    }
    return true;
  }

 private:
  bool complain(long n, const std::string& what) const {
    say(case_.name + ": without memory " + std::to_string(n) + (and_all_later_ ? " and what follows: " : ": ") + what);
    return false;
  }

  // Repeats the case until no cache grows any more.
  std::optional<std::string> warmUp() {
    for (int i = 0; i < kMostWarmUps; ++i) {
      const long before = livePieces();
      if (auto problem = attempt(0, false).problem) return problem;
      live_ = livePieces();
      if (i > 0 && live_ == before) return std::nullopt;
    }
    return "each time more memory stays in use";
  }

  // Runs the case while request [n] fails. If [and_again], runs it once more with all memory.
  Attempt attempt(long n, bool and_again) {
    Attempt result;
    bool ended = false;
    failRequest(n, and_all_later_);
    try {
      case_.body();
      ended = true;
      result.was_met = endFailing();
    } catch (const Error& error) {
      result.was_met = endFailing();
      if (!result.was_met) result.problem = error.message();
      if (error.message().find("internal assertion failed") != std::string::npos) result.problem = error.message();
    } catch (const std::bad_alloc&) {
      result.was_met = endFailing();
      if (!result.was_met) result.problem = "std::bad_alloc, where there was memory";
    } catch (const std::exception& error) {
      endFailing();
      result.problem = std::string("another exception: ") + error.what();
    }
    if (result.problem) return result;
    if (modeCount() != 0 || modeCount(DispatchKey::Python) != 0) result.problem = "a mode is left";
    const LocalDispatchKeySet now = tls_local_dispatch_key_set();
    if (now.included_ != keys_.included_ || now.excluded_ != keys_.excluded_) result.problem = "keys have changed";
    if (!result.problem) result.problem = case_.check(ended);
    if (!result.problem && and_again) {
      result.problem = attempt(0, false).problem;
      if (result.problem) result.problem = "the next time: " + *result.problem;
    }
    return result;
  }

  // Returns whether memory grows each time; memory that is kept only once may belong to a cache.
  bool leaks(long n) {
    long grown = 0;
    for (int i = 0; i < kRepetitions; ++i) {
      const long before = livePieces();
      attempt(n, true);
      grown += livePieces() > before ? 1 : 0;
    }
    live_ = livePieces();
    if (grown < kRepetitions) return false;
    complain(n, "memory is lost");
    return true;
  }

  const ExhaustedCase& case_;
  const LocalDispatchKeySet keys_ = tls_local_dispatch_key_set();
  long live_ = 0;
  bool and_all_later_ = false;
};

}  // namespace

void quietStandardStreams() {
  complaints = ::dup(STDERR_FILENO);
  if (std::freopen("/dev/null", "w", stdout) == nullptr || std::freopen("/dev/null", "w", stderr) == nullptr)
    std::exit(2);
}

void say(const std::string& line) { ::dprintf(complaints, "%s\n", line.c_str()); }

bool passes(const ExhaustedCase& exhausted) { return Runner(exhausted).run(); }

}  // namespace boxcar::exhaustion
